"""Instrumentation: a module's syntax tree with calls of the recorder in it. What the program does, and at which lines, stays as it is.

Not touched: annotations (they may be kept as text), patterns, and, before 3.12, the inside of f-strings, whose positions are wrong there.
"""
import ast
import importlib.machinery
import os
import sys

OPERATORS = {ast.Eq: 'eq', ast.NotEq: 'ne', ast.Lt: 'lt', ast.LtE: 'le', ast.Gt: 'gt', ast.GtE: 'ge', ast.Is: 'is', ast.IsNot: 'isnot', ast.In: 'in',
             ast.NotIn: 'notin'}
HELPERS = ['_rt_h', '_rt_u', '_rt_d', '_rt_us', '_rt_s', '_rt_b', '_rt_t', '_rt_m', '_rt_ch', '_rt_c', '_rt_p'] + ['_rt_' + op for op in OPERATORS.values()]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
TEXTS = tuple(getattr(ast, name) for name in ('JoinedStr', 'TemplateStr') if hasattr(ast, name))
PLACES_IN_TEXTS = sys.version_info >= (3, 12)
NOT_VISITED = frozenset(('annotation', 'returns', 'type_params', 'pattern', 'ctx', 'type_comment', 'op', 'ops'))


class Instrumenter:
    #: Points on the lines of the trace's frames: there it is asked who called.
    chain = frozenset()

    def __init__(self, points, branches):
        """Numbers by (line, column)."""
        self.points = points
        self.branches = branches

    def module(self, tree):
        tree.body = self.block(tree.body, tree, doc=True)
        return tree

    # statements

    def block(self, body, owner, doc=False, first=None):
        """`first`: statements to begin with, after what has to stay first."""
        out = []
        late = list(first or ())
        for place, stmt in enumerate(body):
            number = self.point(stmt)
            fixed = (doc and place == 0 and is_text(stmt)) or (isinstance(stmt, ast.ImportFrom) and stmt.module == '__future__')
            if fixed:
                out.append(stmt)
                if number is not None:
                    late.append(self.hit(number, stmt))
                continue
            out.extend(late)
            late = []
            if number is not None:
                out.append(self.hit(number, stmt))
            self.statement(stmt)
            out.append(stmt)
        out.extend(late)
        return out

    def hit(self, number, stmt):
        if number in self.chain:
            return located(ast.Expr(call('_rt_c', [constant(number, stmt)], stmt)), stmt)
        return store('_rt_h', number, 1, stmt)

    def point(self, stmt):
        found = self.points.get((stmt.lineno, stmt.col_offset))
        decorators = getattr(stmt, 'decorator_list', None)
        if found is None and decorators:
            line = decorators[0].lineno
            found = self.points.get((line, stmt.col_offset))
        return found

    def statement(self, stmt):
        if isinstance(stmt, FUNCTIONS):
            stmt.decorator_list = [self.visit(d) for d in stmt.decorator_list]
            self.fields(stmt.args)
            step = call_step(stmt.body[0])
            stmt.body = self.block(stmt.body, stmt, doc=True, first=[step])
        elif isinstance(stmt, ast.ClassDef):
            for field in ('decorator_list', 'bases', 'keywords'):
                setattr(stmt, field, [self.visit(e) for e in getattr(stmt, field)])
            # The namespace of a class body may be any mapping: helpers must not be looked for in it.
            names = located(ast.Global(list(HELPERS)), stmt.body[0])
            stmt.body = self.block(stmt.body, stmt, doc=True, first=[names])
        elif isinstance(stmt, (ast.For, ast.AsyncFor)):
            self.loop(stmt)
        elif isinstance(stmt, ast.While):
            stmt.test = self.condition(stmt.test)
            stmt.body = self.block(stmt.body, stmt, first=[call_step(stmt.body[0])])
            stmt.orelse = self.block(stmt.orelse, stmt)
        elif isinstance(stmt, (ast.If, ast.Assert)):
            stmt.test = self.condition(stmt.test)
            self.fields(stmt, but='test')
        else:
            self.fields(stmt)

    def loop(self, stmt):
        number = self.branches.get((stmt.iter.lineno, stmt.iter.col_offset))
        stmt.iter = self.visit(stmt.iter)
        stmt.target = self.visit(stmt.target)
        first = [call_step(stmt.body[0])]
        if number is not None:
            first.append(store('_rt_u', number, 1.0, stmt.body[0]))
        stmt.body = self.block(stmt.body, stmt, first=first)
        end = [] if number is None else [store('_rt_d', number, 1.0, stmt)]
        stmt.orelse = self.block(stmt.orelse, stmt, first=end)

    # expressions

    def fields(self, node, but=None):
        """Visits what is inside."""
        for name in node._fields:
            if name == but or name in NOT_VISITED:
                continue
            value = getattr(node, name, None)
            if isinstance(value, list):
                if value and isinstance(value[0], ast.stmt):
                    setattr(node, name, self.block(value, node))
                else:
                    setattr(node, name, [self.visit(v) if isinstance(v, ast.AST) else v for v in value])
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
        return node

    def visit(self, node):
        if isinstance(node, ast.BoolOp):
            return self.either(node, tested=False)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.operand = self.condition(node.operand)
            return node
        if isinstance(node, ast.IfExp):
            node.test = self.condition(node.test)
            return self.fields(node, but='test')
        if isinstance(node, ast.comprehension):
            return self.comprehension(node)
        if isinstance(node, TEXTS) and not PLACES_IN_TEXTS:
            return node
        if type(node).__name__ == 'match_case':
            if node.guard is not None:
                node.guard = self.condition(node.guard)
            node.body = self.block(node.body, node)
            return node
        if is_pattern_use(node):
            return self.pattern_use(self.fields(node))
        return self.fields(node)

    def pattern_use(self, node):
        used = call('_rt_p', [node.func] + node.args, node)
        used.keywords = node.keywords
        return used

    def comprehension(self, node):
        number = self.branches.get((node.iter.lineno, node.iter.col_offset))
        node.iter = self.visit(node.iter)
        node.target = self.visit(node.target)
        node.ifs = [self.condition(test) for test in node.ifs]
        if number is not None:
            entered = call('_rt_us', [constant(number, node.iter), constant(1.0, node.iter)], node.iter)
            node.ifs.insert(0, located(ast.Compare(entered, [ast.Is()], [constant(None, node.iter)]), node.iter))
        return node

    def condition(self, node):
        """An expression of which only the truth counts."""
        if isinstance(node, ast.BoolOp):
            node.values = [self.condition(v) for v in node.values]
            return node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.operand = self.condition(node.operand)
            return node
        return self.leaf(node, '_rt_b')

    def either(self, node, tested):
        """`and`, `or` whose value is kept; the last operand is tested only if something around it does."""
        last = len(node.values) - 1
        node.values = [self.kept(v) if i < last or tested else self.visit(v) for i, v in enumerate(node.values)]
        return node

    def kept(self, node):
        if isinstance(node, ast.BoolOp):
            return self.either(node, tested=True)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.visit(node)
        return self.leaf(node, '_rt_t')

    def leaf(self, node, truth):
        number = self.branches.get((node.lineno, node.col_offset))
        # Left to the compiler, which folds them.
        if isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id == '__debug__'):
            return node
        node = self.visit(node)
        if number is None:
            return node
        number = constant(number, node)
        if isinstance(node, ast.Compare):
            ops = [OPERATORS[type(op)] for op in node.ops]
            if len(ops) == 1:
                return call('_rt_' + ops[0], [number, node.left, node.comparators[0]], node)
            if all(is_constant(c) for c in node.comparators[1:]):
                texts = located(ast.Tuple([constant(op, node) for op in ops], ast.Load()), node)
                return call('_rt_ch', [number, texts, node.left] + node.comparators, node)
        if is_text_test(node):
            return call('_rt_m', [number, node.func] + node.args, node)
        return call(truth, [number, node], node)


def is_text(stmt):
    return isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant) and isinstance(stmt.value.value, str)


def is_constant(node):
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return isinstance(node.operand, ast.Constant) and type(node.operand.value) in NUMBERS
    return isinstance(node, ast.Constant)


def is_text_test(node):
    return (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TEXT_METHODS and not node.keywords
            and not any(isinstance(a, ast.Starred) for a in node.args))


def is_pattern_use(node):
    """What patterns have as methods. Only on one line: a call is where its name is, and a helper's where it begins."""
    return (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in PATTERN_METHODS and node.args
            and node.func.end_lineno == node.lineno)


def located(node, at):
    node.lineno, node.col_offset = at.lineno, at.col_offset
    node.end_lineno, node.end_col_offset = at.end_lineno, at.end_col_offset
    return node


def constant(value, at):
    return located(ast.Constant(value), at)


def call(name, args, at):
    return located(ast.Call(located(ast.Name(name, ast.Load()), at), args, []), at)


def store(table, number, value, at):
    place = located(ast.Subscript(located(ast.Name(table, ast.Load()), at), index(constant(number, at)), ast.Store()), at)
    return located(ast.Assign([place], constant(value, at)), at)


def index(node):
    return node if sys.version_info >= (3, 9) else ast.Index(node)


def call_step(at):
    return located(ast.Expr(call('_rt_s', [], at)), at)


def instrumented(data, path, points, branches):
    """The code of a module."""
    tree = ast.parse(data, path)
    # The compiler and this walk recurse once or more for each level of nesting.
    depth = sys.getrecursionlimit()
    sys.setrecursionlimit(max(depth, 20000))
    try:
        tree = Instrumenter(points, branches).module(tree)
        return compile(tree, path, 'exec', dont_inherit=True)
    finally:
        sys.setrecursionlimit(depth)


class Loader(importlib.machinery.SourceFileLoader):
    """Like the plain loader, past the cache of compiled files."""
    plan = None

    def get_code(self, fullname):
        path = self.get_filename(fullname)
        data = self.get_data(path)
        try:
            return instrumented(data, path, *self.plan)
        except (SyntaxError, RecursionError, ValueError, MemoryError):
            return self.source_to_code(data, path)


class Finder:
    """Lets the other finders find, and instruments what is watched."""

    def __init__(self, modules):
        """By module name: (resolved path, (points, branches))."""
        self.modules = modules

    def find_spec(self, name, path=None, target=None):
        watched = self.modules.get(name)
        if watched is None:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, 'find_spec', None)
            spec = find(name, path, target) if find is not None and finder is not self else None
            if spec is not None:
                if isinstance(spec.loader, importlib.machinery.SourceFileLoader) and os.path.realpath(spec.origin) == watched[0]:
                    spec.loader = Loader(spec.loader.name, spec.loader.path)
                    spec.loader.plan = watched[1]
                return spec
        return None
