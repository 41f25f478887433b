import voluptuous as vlps
s = vlps.Schema(vlps.In((str, int, float)))
s(42)
