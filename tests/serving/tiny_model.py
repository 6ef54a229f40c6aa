"""A tiny llama in GGUF with random weights: it says nonsense, one word a token, but as fast as it can."""

from __future__ import annotations

import sys
from pathlib import Path

LETTERS = "abcdefghijklmnopqrstuvwxyz"
TEMPLATE = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:"


def write(path: Path, width: int = 128, layers: int = 4, heads: int = 4) -> None:
    """Write the model. Special and byte tokens have no weight in the output, so that it never says one."""
    import gguf
    import numpy

    special = ["<unk>", "<s>", "</s>", *(f"<0x{i:02X}>" for i in range(256))]
    words = [f"\u2581{letter}" for letter in LETTERS] + list(LETTERS)
    kinds = [gguf.TokenType.UNKNOWN, *[gguf.TokenType.CONTROL] * 2, *[gguf.TokenType.BYTE] * 256]
    kinds += [gguf.TokenType.NORMAL] * len(words)
    random = numpy.random.default_rng(0)

    def weights(*shape: int) -> object:
        return random.normal(0, 0.3, shape).astype(numpy.float32)

    made = gguf.GGUFWriter(str(path), "llama")
    made.add_name("tiny")
    made.add_context_length(4096)
    made.add_embedding_length(width)
    made.add_block_count(layers)
    made.add_feed_forward_length(2 * width)
    made.add_head_count(heads)
    made.add_head_count_kv(heads)
    made.add_layer_norm_rms_eps(1e-5)
    made.add_rope_dimension_count(width // heads)
    made.add_vocab_size(len(special) + len(words))
    made.add_file_type(gguf.LlamaFileType.ALL_F32)
    made.add_tokenizer_model("llama")
    made.add_token_list([*special, *words])
    made.add_token_scores([0.0] * len(kinds))
    made.add_token_types(kinds)
    made.add_bos_token_id(1)
    made.add_eos_token_id(2)
    made.add_unk_token_id(0)
    made.add_chat_template(TEMPLATE)
    output = weights(len(kinds), width)
    output[: len(special)] = 0  # type: ignore[index]
    made.add_tensor("token_embd.weight", weights(len(kinds), width))
    made.add_tensor("output.weight", output)
    made.add_tensor("output_norm.weight", numpy.ones(width, numpy.float32))
    for layer in range(layers):
        shapes = {f"attn_{name}": (width, width) for name in ("q", "k", "v", "output")}
        shapes |= {
            "ffn_gate": (2 * width, width),
            "ffn_up": (2 * width, width),
            "ffn_down": (width, 2 * width),
        }
        for name, shape in shapes.items():
            made.add_tensor(f"blk.{layer}.{name}.weight", weights(*shape))
        for name in ("attn_norm", "ffn_norm"):
            made.add_tensor(f"blk.{layer}.{name}.weight", numpy.ones(width, numpy.float32))
    made.write_header_to_file()
    made.write_kv_data_to_file()
    made.write_tensors_to_file()
    made.close()


def serve(path: Path) -> None:
    """Serve a model with llama.cpp's own server until killed; its address is the first line on standard output."""
    import time

    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = str(path)
    settings.n_ctx, settings.n_parallel, settings.port = 4096, 2, 0
    for threads in (settings.cpuparams, settings.cpuparams_batch):
        threads.n_threads, threads.poll = 1, 0  # others use this machine too
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)
    while True:
        time.sleep(60)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
