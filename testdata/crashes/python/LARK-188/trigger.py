from lark import Lark
Lark("/")
