import xmltodict

xmltodict.unparse({'MessageData': {'@infotype': 0, '#text': '08'}})
