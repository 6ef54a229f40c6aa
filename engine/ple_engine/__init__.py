"""The PLE engine: hashed n-gram embeddings for Qwen4-Exp-style models, with rows in GPU memory or on disk.

Start with `hashing` (the arithmetic) and `disk_table` (the rows). Importing the package imports no torch:
the conformance command must be able to say in one line that torch is missing.
"""
