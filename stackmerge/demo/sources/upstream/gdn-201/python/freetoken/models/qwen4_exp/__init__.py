"""Qwen4-Exp: gated delta net layers, and n-gram embeddings in every layer."""
