from tomlkit import parse

parse('[table]\na[t]=1\n')
