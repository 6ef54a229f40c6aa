"""Languages: which one a file is in, and what its definitions look like."""

from __future__ import annotations

# Asked for another one, ast-grep panics, and no `except Exception` sees it.
AST_GREP = (
    "bash", "c", "cpp", "csharp", "css", "elixir", "go", "haskell", "hcl", "html", "java", "javascript",
    "json", "kotlin", "lua", "nix", "php", "python", "ruby", "rust", "scala", "solidity", "swift", "tsx",
    "typescript", "yaml",
)  # fmt: skip

FUNCTIONS = {
    "python": ("function_definition",),
    "c": ("function_definition",),
    "cpp": ("function_definition",),
    "go": ("function_declaration", "method_declaration"),
    "rust": ("function_item",),
    "java": ("method_declaration", "constructor_declaration"),
    "javascript": ("function_declaration", "method_definition"),
    "typescript": ("function_declaration", "method_definition"),
    "tsx": ("function_declaration", "method_definition"),
    "ruby": ("method",),
    "php": ("function_definition", "method_declaration"),
    "lua": ("function_declaration",),
    "bash": ("function_definition",),
    "kotlin": ("function_declaration",),
    "swift": ("function_declaration",),
    "scala": ("function_definition",),
    "csharp": ("method_declaration",),
}

CLASSES = {
    "python": ("class_definition",),
    "cpp": ("class_specifier", "struct_specifier"),
    "rust": ("impl_item", "trait_item"),
    "java": ("class_declaration", "interface_declaration"),
    "javascript": ("class_declaration",),
    "typescript": ("class_declaration",),
    "tsx": ("class_declaration",),
    "ruby": ("class", "module"),
    "php": ("class_declaration",),
    "kotlin": ("class_declaration",),
    "swift": ("class_declaration",),
    "scala": ("class_definition", "object_definition"),
    "csharp": ("class_declaration",),
}

CALLS = {
    "python": "call",
    "c": "call_expression",
    "cpp": "call_expression",
    "go": "call_expression",
    "rust": "call_expression",
    "javascript": "call_expression",
    "typescript": "call_expression",
    "tsx": "call_expression",
}

_BY_SUFFIX = {
    ".py": "python", ".pyi": "python",
    ".c": "c", ".h": "c",
    ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hpp": "cpp", ".cu": "cpp", ".cuh": "cpp",
    ".go": "go", ".rs": "rust", ".java": "java", ".js": "javascript", ".mjs": "javascript",
    ".jsx": "javascript", ".ts": "typescript", ".tsx": "tsx", ".rb": "ruby", ".php": "php", ".lua": "lua",
    ".sh": "bash", ".kt": "kotlin", ".swift": "swift", ".scala": "scala", ".cs": "csharp",
}  # fmt: skip


def of(path: str) -> str:
    """The language of a path by its name; empty for an unknown one."""
    return _BY_SUFFIX.get(path[path.rfind(".") :].lower(), "")
