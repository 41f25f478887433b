import tomlkit

tomlkit.parse('[b]\n [b.I.b.Z]\n[b.I.b]')
