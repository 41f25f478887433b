from pyld import jsonld
jsonld.parse_url('https:&#x2F;&#x2F;nodebb.org')
