# SPDX-License-Identifier: Apache-2.0
"""Outline of a C++ source: its namespaces, classes with their members, and functions defined out of class.

This is no compiler. A tokenizer removes comments and strings, then braces, parentheses and the first words of a
statement tell declarations apart. It relies on the layout of clang-format: `a<b>` is a template, `a < b` compares.
It cannot see
- what a macro expands to, and any but the first branch of an #if with #else;
- classes and functions inside function bodies, and the layout that a typedef or `using` stands for;
- functions that the compiler declares, and members that a class inherits.
"""

import re
from dataclasses import dataclass, field

# Comments, strings and characters; a quote behind a digit separates digits. Every alternative begins with
# a literal: so the search skips quickly to the next one.
TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/"""
                   r"""|"(?<=R")(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)\""""
                   r"""|"(?:\\.|[^"\\\n])*"|'(?<=\w')|'(?:\\[^\n][^'\n]*|[^'\\\n])'""", re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w+)(?:\\.|[^\\\n])*", re.MULTILINE | re.DOTALL)
BRACKET = re.compile(r"[(){}]")
STOP = re.compile(r"[;({]")
PIECE = re.compile(r"""\boperator\s*(?:\(\)|\[\]|""\s*\w+|(?:new|delete)\b(?:\[\])?|[-+*/%^&|~!=<>,]+)"""
                   r"""|\w+|::|->|\.\.\.|""|&&|\|\||\S""")
POINTER = re.compile(r"\s*(?:\w+::)*[*&]+\s*(?:const\s+)?(\w*)")

CLOSING = {")": "(", "]": "[", "}": "{", ">": "<"}
CLASS_KEYS = {"class", "struct", "union"}
SPECIFIERS = {"inline", "static", "constexpr", "constinit", "extern", "thread_local", "mutable", "const", "typedef"}
# Words before a parenthesis that make no function of it.
NO_NAMES = {"alignas", "decltype", "noexcept", "explicit", "requires", "throw", "asm", "__attribute__", "sizeof"}
SKIPPED = {"using", "typedef", "friend", "static_assert", "concept", "enum", "asm", "goto"}


def without_comments(text):
    """The text without comments; line ends stay, a string is "" on each of its lines, a character is 0."""
    def replace(token):
        text = token[0]
        if text[0] == "/":
            return "\n" * text.count("\n") or " "
        if text[0] == '"':
            return '""' + '\n""' * text.count("\n")
        return "" if len(text) == 1 else "0"
    return TOKEN.sub(replace, text)


def without_directives(code):
    """The code without preprocessor lines and without all but the first branch of each #if; line ends stay."""
    parts, at = [], 0
    open_ifs = []  # for each #if: whether text below it is left out
    for match in DIRECTIVE.finditer(code):
        left_out = any(open_ifs)
        before = code[at:match.start()]
        parts.append("\n" * before.count("\n") if left_out else before)
        parts.append("\n" * match[0].count("\n"))
        at = match.end()
        word = match[1]
        if word.startswith("if"):
            open_ifs.append(False)
        elif word.startswith("el") and open_ifs:
            open_ifs[-1] = True
        elif word == "endif" and open_ifs:
            open_ifs.pop()
    return "".join(parts) + code[at:]


def flatten(text):
    """Pairs of token and content: a group in brackets is one token, "()", "[]", "{}" or "<>". No attributes."""
    result, stack = [], []
    for match in PIECE.finditer(text):
        piece, start = match[0], match.start()
        if piece == "<":
            opens = start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_")
            opens = opens or text[:start].rstrip().endswith("template")
        else:
            opens = piece in ("(", "[", "{")
        if opens:
            stack.append((piece, start + 1))
            continue
        if piece in CLOSING and stack:
            if piece == ">" and stack[-1][0] != "<":
                continue
            while stack[-1][0] != CLOSING[piece] and len(stack) > 1:
                stack.pop()
            opening, begin = stack.pop()
            content = text[begin:start]
            if not stack and not (opening == "[" and content.startswith("[")):
                result.append((opening + piece, content))
            continue
        if not stack:
            result.append((piece, ""))
    return result


def count_list(text):
    """Number of items of a list separated by commas; of parameters, too."""
    tokens = [token for token, _ in flatten(text)]
    return 0 if tokens in ([], ["void"]) else 1 + tokens.count(",")


@dataclass
class member_function:
    name: str
    parameters: int
    line: int
    is_virtual: bool = False
    is_pure: bool = False
    overrides: bool = False
    has_body: bool = False


@dataclass
class class_outline:
    name: tuple  # components, those of enclosing namespaces and classes included
    path: str
    line: int
    scope: tuple  # what encloses it
    bases: list = field(default_factory=list)      # names as tuples, as they are written
    data: list = field(default_factory=list)       # names of non-static data members
    constants: list = field(default_factory=list)  # names of static ones
    functions: list = field(default_factory=list)
    outside: list = field(default_factory=list)    # (function, path, line) defined outside of the class

    def members(self):
        return len(self.data) + len(self.functions)


@dataclass
class definition:
    """A function defined outside of what it belongs to; `qualifiers` may turn out to be a namespace."""
    scope: tuple
    qualifiers: tuple
    name: str
    path: str
    line: int


def is_word(token):
    return token[0].isalpha() or token[0] == "_"


def is_macro(token):
    return len(token) > 3 and token.isupper() and is_word(token)


def strip_head(tokens):
    """Leaves out access labels, macros, alignas, template<> and requires at the beginning of a declaration."""
    at = 0

    def token(offset=0):
        return tokens[at + offset][0] if at + offset < len(tokens) else ""
    while at < len(tokens):
        if token() in ("public", "private", "protected") and token(1) == ":":
            at += 2
        elif token() == "template" and token(1) == "<>":
            at += 2
            if token() == "requires":
                at = after_constraint(tokens, at + 1)
        elif (token() == "alignas" or is_macro(token())) and token(1) == "()":
            at += 2
        else:
            break
    return tokens[at:]


def after_constraint(tokens, at):
    """Index behind a requires clause that begins at `at`."""
    while at < len(tokens):
        if tokens[at][0] == "requires":
            at += 1
            while at < len(tokens) and tokens[at][0] in ("()", "{}"):
                at += 1
        elif tokens[at][0] == "()":
            at += 1
        else:
            at += 1
            while at < len(tokens) and (tokens[at][0] in ("<>", "::") or tokens[at - 1][0] == "::"):
                at += 1
        if at >= len(tokens) or tokens[at][0] not in ("&&", "||"):
            return at
        at += 1
    return at


def name_before(tokens, end):
    """The qualified name that ends before index `end`: its components, and the index where it begins."""
    names = []
    at = end
    while at > 0:
        arguments = ""
        if tokens[at - 1][0] == "<>" and at > 1:
            arguments = "<" + "".join(tokens[at - 1][1].split()) + ">"
            at -= 1
        if at == 0 or not is_word(tokens[at - 1][0]):
            break
        at -= 1
        name = tokens[at][0] + arguments
        if at > 0 and tokens[at - 1][0] == "~":
            at -= 1
            name = "~" + name
        names.insert(0, name)
        if at == 0 or tokens[at - 1][0] != "::":
            break
        at -= 1
    return tuple(names), at


def find_parameters(tokens):
    """Index of the parameter list of a function; -1 if the declaration is none."""
    words = [token for token, _ in tokens]
    for at, (token, content) in enumerate(tokens):
        if token == "=":
            return -1
        if token != "()" or at == 0:
            continue
        if words[at - 1] in NO_NAMES:
            continue
        if POINTER.match(content) and not words[at - 1].startswith("operator"):
            return -1  # a pointer to a function
        if words[at - 1] == "<>" or is_word(words[at - 1]) or "operator" in words[:at]:
            return at
    return -1


def function_name(tokens, parameters):
    words = [token for token, _ in tokens[:parameters]]
    if "operator" in words:  # a conversion
        at = words.index("operator")
        names, _ = name_before(tokens, at - 1) if at > 1 and words[at - 1] == "::" else ((), at)
        return names + ("operator " + " ".join(words[at + 1:]),)
    return name_before(tokens, parameters)[0]


def class_head(tokens):
    """(name, bases) if the tokens before a brace begin a class, else None. The name of an unnamed one is ()."""
    at = 0
    while at < len(tokens) and tokens[at][0] in SPECIFIERS:
        at += 1
    if at == len(tokens) or tokens[at][0] not in CLASS_KEYS:
        return None
    rest = strip_head(tokens[at + 1:])
    while rest and is_macro(rest[0][0]) and len(rest) > 1 and is_word(rest[1][0]) and rest[1][0] != "final":
        rest = rest[1:]
    words = [token for token, _ in rest]
    colon = words.index(":") if ":" in words else len(words)
    named = rest[:colon]
    if named and named[-1][0] == "final":
        named = named[:-1]
    if any(token in ("()", "=", "[]", "{}") for token, _ in named):
        return None
    name, begin = name_before(named, len(named))
    if begin != 0:
        return None  # `struct stat now {}` declares a variable
    return name, base_names(rest[colon + 1:])


def base_names(tokens):
    bases, at = [], 0
    while at < len(tokens):
        end = at
        while end < len(tokens) and tokens[end][0] != ",":
            end += 1
        part = [token for token in tokens[at:end] if token[0] not in ("public", "private", "protected", "virtual")]
        name, _ = name_before(part, len(part))
        if name:
            bases.append(tuple(component.split("<")[0] for component in name))
        at = end + 1
    return bases


def declared_names(tokens):
    """Names of the variables that a declaration without parameters declares."""
    parts, part = [], []
    for token in tokens:
        if token[0] == ",":
            parts.append(part)
            part = []
        else:
            part.append(token)
    parts.append(part)
    names = []
    for number, part in enumerate(parts):
        end = next((i for i, (token, _) in enumerate(part) if token in ("=", "{}", "[]", ":")), len(part))
        pointer = next((POINTER.match(content)[1] for (before, _), (token, content) in zip(part, part[1:end])
                        if token == "()" and before not in NO_NAMES and POINTER.match(content)), None)
        if pointer is not None:
            names.append(pointer)
        elif end and is_word(part[end - 1][0]) and (number or end > 1):
            names.append(part[end - 1][0])
    return names


class outline:
    """What one source declares. `path` is how the classes name their file."""

    def __init__(self, text, path):
        self.path = path
        self.stripped = without_comments(text)
        self.code = without_directives(self.stripped)
        self.classes = []
        self.definitions = []
        self.spans = []     # (begin, end, namespace), outer ones first
        self.declared = []  # (namespace, name, is only a forward declaration or a specialisation)
        self.match = {}
        stack = []
        for bracket in BRACKET.finditer(self.code):
            if bracket[0] in "({":
                stack.append((bracket[0], bracket.start()))
            elif stack and stack[-1][0] == CLOSING[bracket[0]]:
                self.match[stack.pop()[1]] = bracket.start()
        self.scan(0, len(self.code), (), None)

    def line_of(self, at):
        return self.code.count("\n", 0, at) + 1

    def namespace_at(self, at):
        """The innermost namespace around a position of `code`."""
        return next((name for begin, end, name in reversed(self.spans) if begin <= at < end), ())

    def scan(self, at, end, scope, owner):
        """Reads the declarations from `at` to `end` of a namespace, or of the class `owner`."""
        begin = at
        while stop := STOP.search(self.code, at, end):
            at = stop.start()
            if stop[0] == ";":
                self.declare(begin, at, scope, owner, has_body=False)
                begin = at = at + 1
                continue
            close = self.match.get(at, end)
            if stop[0] == "(":
                at = close + 1
                continue
            tokens = strip_head(flatten(self.code[begin:at]))
            next_begin = self.open(tokens, begin, at, close, scope, owner)
            if next_begin is None:
                at = close + 1  # an initialiser: the statement goes on
            else:
                begin = at = next_begin

    def open(self, tokens, begin, brace, close, scope, owner):
        """Reads what a brace opens. Returns where the next statement begins; None if this one goes on."""
        words = [token for token, _ in tokens]
        if not words:
            return close + 1
        if "namespace" in words[:2]:
            self.open_namespace(words, brace, close, scope)
            return close + 1
        if words[:2] == ["extern", '""'] and len(words) == 2:
            self.scan(brace + 1, close, scope, owner)
            return close + 1
        head = class_head(tokens)
        if head is not None:
            return self.open_class(head, begin, brace, close, scope, owner)
        if is_body(tokens):
            self.declare(begin, brace, scope, owner, has_body=True)
            return close + 1
        return None

    def open_namespace(self, words, brace, close, scope):
        names = tuple(word for word in words[words.index("namespace") + 1:] if is_word(word) and word != "inline")
        inner = scope + (names or ("@" + self.path,))
        self.spans.append((brace + 1, close, inner))
        self.scan(brace + 1, close, inner, None)

    def open_class(self, head, begin, brace, close, scope, owner):
        name, bases = head
        semicolon = self.code.find(";", close)
        semicolon = len(self.code) if semicolon < 0 else semicolon
        declarators = flatten(self.code[close + 1:semicolon])
        if not name and not declarators and owner is not None:
            self.scan(brace + 1, close, scope, owner)  # members of an unnamed union are those of the class
            return semicolon + 1
        variables = declared_names([("type", "")] + declarators) if declarators else []
        display = name or (variables[0] + "'s type" if variables else "unnamed",)
        first = begin + len(self.code[begin:]) - len(self.code[begin:].lstrip())
        cls = class_outline(scope + display, self.path, self.line_of(first), scope, bases)
        self.classes.append(cls)
        if owner is None:
            self.declared.append((scope, display[-1].split("<")[0], "<" in display[-1]))
        self.scan(brace + 1, close, scope + display, cls)
        if owner is not None:
            owner.data.extend(variables)
        return semicolon + 1

    def declare(self, begin, end, scope, owner, has_body):
        """Reads a declaration that ends before a semicolon, or before the body of a function."""
        text = self.code[begin:end]
        if not text.strip():
            return
        tokens = strip_head(flatten(text))
        words = [token for token, _ in tokens]
        if not words or words[0] in SKIPPED or words[0] == "template" or words[:2] == ["extern", "template"]:
            self.declare_alias(words, scope, owner)
            return
        first = begin + len(text) - len(text.lstrip())
        parameters = find_parameters(tokens)
        if parameters >= 0:
            self.declare_function(tokens, parameters, self.line_of(first), scope, owner, has_body)
            return
        if words[0] in CLASS_KEYS and name_before(tokens, len(tokens))[1] == 1:
            if owner is None:
                self.declared.append((scope, words[-1], True))
            return
        names = declared_names(tokens)
        if owner is None:
            self.declared.extend((scope, name, "extern" in words) for name in names)
        elif "static" in words:
            owner.constants.extend(names)
        else:
            owner.data.extend(names)

    def declare_alias(self, words, scope, owner):
        if owner is not None or len(words) < 2:
            return
        if words[0] == "using" and "=" in words or words[0] == "concept":
            self.declared.append((scope, words[1], False))
        elif words[0] == "enum":
            name = words[2] if words[1] in CLASS_KEYS and len(words) > 2 else words[1]
            self.declared.append((scope, name, "{}" not in words))

    def declare_function(self, tokens, parameters, line, scope, owner, has_body):
        name = function_name(tokens, parameters)
        if not name:
            return
        words = [token for token, _ in tokens]
        behind = words[parameters:]
        if owner is not None:
            owner.functions.append(member_function(
                name[-1], count_list(tokens[parameters][1]), line,
                is_virtual="virtual" in words, is_pure=behind[-2:] == ["=", "0"],
                overrides="override" in behind or "final" in behind, has_body=has_body))
        elif len(name) > 1:
            if has_body or behind[-2:] in (["=", "default"], ["=", "delete"]):
                self.definitions.append(definition(scope, name[:-1], name[-1], self.path, line))
        else:
            self.declared.append((scope, name[0], False))


def is_body(tokens):
    """Whether a brace behind these tokens opens the body of a function, not an initialiser."""
    words = [token for token, _ in tokens]
    parameters = find_parameters(tokens)
    if parameters < 0:
        return False
    if words[-1] == "requires" or words[-1] == "()" and words[-3:-1] == ["requires", "requires"]:
        return False
    in_initialisers = ":" in words[parameters:]
    return not (in_initialisers and (is_word(words[-1]) or words[-1] == "<>"))
