"""Writes a model that a real engine runs and whose answers are known: tiny.gguf, and beside it the tokenizer that it was made of.

usage: tiny_gguf.py TOKENIZER_JSON FOLDER

The model is a llama of one layer whose attention and feed-forward weights are zero. The embedding of a token is a unit vector, and the output matrix
maps each unit vector to the next of 64 words: answers go round in a ring of words that each begin with a blank, so that encoding the text again
gives the tokens that the engine made. The vocabulary is GPT-2's. Format: GGUF version 3.
"""
import array
import json
import os
import struct
import sys

WIDTH, HIDDEN, HEADS, CONTEXT = 64, 64, 4, 4096
TEMPLATE = ("{% for message in messages %}<|{{ message['role'] }}|>\n{{ message['content'] }}\n{% endfor %}"
            "{% if add_generation_prompt %}<|assistant|>\n{% endif %}")
U32, F32, BOOL, STRING, ARRAY, I32 = 4, 6, 7, 8, 9, 5

source, folder = sys.argv[1:]
tokenizer = json.load(open(source))
vocabulary = [t for t, _ in sorted(tokenizer["model"]["vocab"].items(), key=lambda x: x[1])]
merges = [m if isinstance(m, str) else " ".join(m) for m in tokenizer["model"]["merges"]]
end = vocabulary.index("<|endoftext|>")
ring = [i for i, t in enumerate(vocabulary) if t[0] == "\u0120" and len(t) > 4 and t[1:].isascii() and t[1:].isalpha() and t[1:].islower()][:WIDTH]
place = {t: i for i, t in enumerate(ring)}


def text(s):
    b = s.encode()
    return struct.pack("<Q", len(b)) + b


pairs = []


def pair(key, kind, value):
    pairs.append(text(key) + struct.pack("<I", kind) + value)


def number(key, value):
    pair(key, U32, struct.pack("<I", value))


def texts(key, values):
    pair(key, ARRAY, struct.pack("<IQ", STRING, len(values)) + b"".join(map(text, values)))


pair("general.architecture", STRING, text("llama"))
pair("general.name", STRING, text("tiny"))
number("general.file_type", 0)
for key, value in {"context_length": CONTEXT, "embedding_length": WIDTH, "block_count": 1, "feed_forward_length": HIDDEN, "attention.head_count": HEADS,
                   "attention.head_count_kv": HEADS, "rope.dimension_count": WIDTH // HEADS, "vocab_size": len(vocabulary)}.items():
    number("llama." + key, value)
pair("llama.attention.layer_norm_rms_epsilon", F32, struct.pack("<f", 1e-5))
pair("tokenizer.ggml.model", STRING, text("gpt2"))
pair("tokenizer.ggml.pre", STRING, text("gpt-2"))
texts("tokenizer.ggml.tokens", vocabulary)
pair("tokenizer.ggml.token_type", ARRAY, struct.pack("<IQ", I32, len(vocabulary)) + b"".join(struct.pack("<i", 3 if i == end else 1) for i in range(len(vocabulary))))
texts("tokenizer.ggml.merges", merges)
number("tokenizer.ggml.eos_token_id", end)
number("tokenizer.ggml.bos_token_id", end)
pair("tokenizer.ggml.add_bos_token", BOOL, b"\0")
pair("tokenizer.chat_template", STRING, text(TEMPLATE))

tensors = []


def tensor(name, dims, values):
    tensors.append((name, dims, values.tobytes()))


def zeros(*dims):
    size = 1
    for d in dims:
        size *= d
    return array.array("f", bytes(4 * size))


embedding, output = zeros(len(vocabulary), WIDTH), zeros(len(vocabulary), WIDTH)
for i in range(len(vocabulary)):
    embedding[i * WIDTH + place.get(i, i % WIDTH)] = 1.0
for i, t in enumerate(ring):
    output[ring[(i + 1) % WIDTH] * WIDTH + i] = 10.0  # so far ahead of all others that no sampling takes another
ones = array.array("f", [1.0] * WIDTH)
tensor("token_embd.weight", (WIDTH, len(vocabulary)), embedding)
tensor("output_norm.weight", (WIDTH,), ones)
tensor("output.weight", (WIDTH, len(vocabulary)), output)
tensor("blk.0.attn_norm.weight", (WIDTH,), ones)
tensor("blk.0.ffn_norm.weight", (WIDTH,), ones)
for name in "attn_q", "attn_k", "attn_v", "attn_output":
    tensor(f"blk.0.{name}.weight", (WIDTH, WIDTH), zeros(WIDTH, WIDTH))
for name, dims in {"ffn_gate": (WIDTH, HIDDEN), "ffn_up": (WIDTH, HIDDEN), "ffn_down": (HIDDEN, WIDTH)}.items():
    tensor(f"blk.0.{name}.weight", dims, zeros(*dims))

head, info, offset = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs)) + b"".join(pairs), b"", 0
for name, dims, data in tensors:
    info += text(name) + struct.pack("<I", len(dims)) + b"".join(struct.pack("<Q", d) for d in dims) + struct.pack("<IQ", 0, offset)
    offset += (len(data) + 31) // 32 * 32
os.makedirs(folder, exist_ok=True)
with open(os.path.join(folder, "tiny.gguf"), "wb") as f:
    f.write(head + info + b"\0" * (-len(head + info) % 32))
    for _, _, data in tensors:
        f.write(data + b"\0" * (-len(data) % 32))
with open(os.path.join(folder, "tokenizer.json"), "w") as f:
    json.dump(tokenizer, f)
with open(os.path.join(folder, "tokenizer_config.json"), "w") as f:
    json.dump({"tokenizer_class": "GPT2Tokenizer", "chat_template": TEMPLATE, "eos_token": "<|endoftext|>", "bos_token": "<|endoftext|>"}, f)
