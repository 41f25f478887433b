from asn1crypto.algos import DSASignature
DSASignature.load(b"\x30\x03\x02\x00\x02", strict=True).native
