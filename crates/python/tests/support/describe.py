"""Test support: the plan of a module as JSON, by CPython's own syntax tree. In the product the plan is made from the parser's tree."""
import ast
import json
import sys

path, module = sys.argv[1:3]
tree = ast.parse(open(path, 'rb').read(), path)
points, branches, codes, functions, classes = [], [], [], [], []


def leaves(e):
    if isinstance(e, ast.BoolOp):
        for v in e.values:
            leaves(v)
    elif isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.Not):
        leaves(e.operand)
    else:
        branches.append((e.lineno, e.col_offset))


def desc(f, drop):
    a = f.args
    pos = getattr(a, 'posonlyargs', []) + a.args
    optional = len(pos) - len(a.defaults)
    parts = []
    for i, p in enumerate(pos):
        if i >= drop:
            parts.append(p.arg + ('=' if i >= optional else ''))
        if i + 1 == len(a.posonlyargs) and parts:
            parts.append('/')
    if a.vararg:
        parts.append('*' + a.vararg.arg)
    elif a.kwonlyargs:
        parts.append('*')
    for p, d in zip(a.kwonlyargs, a.kw_defaults):
        parts.append(p.arg + ('=' if d is not None else ''))
    if a.kwarg:
        parts.append('**' + a.kwarg.arg)
    count = len([p for p in parts if p not in '/*'])
    return '%d(%s)' % (first_line(f), ', '.join(parts)), count


def first_line(f):
    return f.decorator_list[0].lineno if getattr(f, 'decorator_list', None) else f.lineno


def walk(node, owner, inside):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            points.append((child.lineno, child.col_offset))
        if isinstance(child, (ast.If, ast.While, ast.Assert, ast.IfExp)):
            leaves(child.test)
        if isinstance(child, (ast.For, ast.AsyncFor, ast.comprehension)):
            branches.append((child.iter.lineno, child.iter.col_offset))
        for test in getattr(child, 'ifs', []):
            leaves(test)
        if isinstance(child, ast.BoolOp) or (isinstance(child, ast.UnaryOp) and isinstance(child.op, ast.Not)):
            leaves(child)
        if getattr(child, 'guard', None) is not None:
            leaves(child.guard)
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            codes.append((first_line(child), child.name, owner))
            if not inside:
                static = any(isinstance(d, ast.Name) and d.id == 'staticmethod' for d in child.decorator_list)
                method = ':' in owner and not static
                text, count = desc(child, 1 if method else 0)
                functions.append((owner, child.name, text, count, 'new' if child.name == '__init__' else 'instance' if method else 'static'))
            walk(child, owner, True)
        elif isinstance(child, ast.ClassDef):
            name = owner + ('.' if ':' in owner else ':') + child.name
            codes.append((first_line(child), child.name, name))
            classes.append(name)
            walk(child, name, inside)
        else:
            if isinstance(child, ast.Lambda):
                codes.append((child.lineno, '<lambda>', owner))
            walk(child, owner, inside)


codes.append((1, '<module>', module))
walk(tree, module, False)
unique = lambda sites: sorted(set(sites))
json.dump(dict(points=unique(points), branches=unique(branches), codes=codes, functions=functions, classes=classes), sys.stdout)
