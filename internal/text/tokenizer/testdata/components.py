"""Records what the parts of the reference library (tokenizers, PyPI) make of some texts, for the tests of the packages beside this folder.

    python components.py    # writes ../normal/testdata/reference.json and so on
"""
import base64, json, os, struct
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers as N, pre_tokenizers as P, processors, trainers

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
TEXTS = [
    "", " ", "Hello, wörld! It's 2024-05-06.", "  two  blanks\tand\ttabs\n\nlines  ", "Crème BRÛLÉE İstanbul ΣΑΣ straße ǅ", "漢字かなカナー 한국어 mixed",
    "① ｱ ½ ﬁ Ⅷ ㍿ Å Å", "e\u0301\u0323 n\u0303 a\u0323\u0301\u0302", "\u200b\u00a0\ufeff\u2028x\u0007y\u0000z\u008fq", "a_b-c.d,e;f(g)[h]{i}", "100,000.50 ٣٤ x²y",
    "👍🏽👨\u200d👩\u200d👧 flags 🇩🇪", "▁already▁marked ▁ x", "don't won't I'm they've", "aaaaaaaaaaaa bbbb", "Русский текст, العربية עברית", "\u0345\u0300" * 20 + "end",
]


def write(room, cases):
    path = os.path.join(HERE, room, "testdata", "reference.json")
    with open(path, "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c, ensure_ascii=True, separators=(",", ":")) for c in cases) + "\n]\n")


def trie(keys):
    """A character map as SentencePiece compiles it: a double array of 32-bit units, then the texts, each with a zero behind it."""
    units, texts, at = {0: 0}, b"", {}
    for k in sorted(keys):
        at[k] = len(texts)
        texts += keys[k].encode() + b"\0"

    def place(idx, prefix):
        labels = sorted({k.encode()[len(prefix)] for k in keys if k.encode().startswith(prefix) and len(k.encode()) > len(prefix)})
        leaf = prefix.decode("utf-8", "ignore") in keys and prefix.decode("utf-8", "ignore").encode() == prefix
        base = 256
        while any(base ^ c in units for c in labels + ([0] if leaf else [])):
            base += 1
        units[idx] |= (idx ^ base) << 10 | (256 if leaf else 0)
        if leaf:
            units[base] = 1 << 31 | at[prefix.decode()]
        for c in labels:
            units[base ^ c] = c
        for c in labels:
            place(base ^ c, prefix + bytes([c]))

    place(0, b"")
    array = struct.pack("<1024I", *[units.get(i, 0) for i in range(1024)])  # the reference reads beyond the last unit in use
    return struct.pack("<I", len(array)) + array + texts


def normalizers():
    chars = trie({"①": "1", "ｱ": "ア", "½": "1/2", "ﬁ": "fi", "e\u0301": "é", "\t": " ", "İ": "I", "Å": "Å"})
    for name, n in {
        "NFC": N.NFC(), "NFD": N.NFD(), "NFKC": N.NFKC(), "NFKD": N.NFKD(), "Lowercase": N.Lowercase(), "StripAccents": N.StripAccents(), "Nmt": N.Nmt(),
        "ByteLevel": N.ByteLevel(), "Strip left": N.Strip(True, False), "Strip right": N.Strip(False, True), "Prepend": N.Prepend("▁"),
        "ReplaceText": N.Replace(" ", "▁"), "ReplaceRegex": N.Replace(Regex("[0-9]+|\\s{2,}"), "<>"), "Sequence": N.Sequence([N.NFD(), N.StripAccents(), N.Lowercase()]),
        "Bert": N.BertNormalizer(True, True, None, True), "Bert cased": N.BertNormalizer(True, True, False, False), "Bert bare": N.BertNormalizer(False, False, True, False),
        "Charsmap": N.Precompiled(chars),
    }.items():
        yield {"name": name, "map": base64.b64encode(chars).decode() if name == "Charsmap" else "", "out": [n.normalize_str(t) for t in TEXTS], "in": TEXTS}


def pretokenizers():
    split = "[A-Za-z]+|[0-9]"
    for name, p in {
        "Whitespace": P.Whitespace(), "WhitespaceSplit": P.WhitespaceSplit(), "Bert": P.BertPreTokenizer(), "Punctuation": P.Punctuation(),
        "Punctuation Removed": P.Punctuation("removed"), "Digits": P.Digits(False), "Digits single": P.Digits(True), "Delimiter": P.CharDelimiterSplit("-"),
        "Metaspace always": P.Metaspace("▁", "always", True), "Metaspace first": P.Metaspace("▁", "first", True), "Metaspace never": P.Metaspace("▁", "never", False),
        "Scripts": P.UnicodeScripts(), "FixedLength": P.FixedLength(length=4), "ByteLevel": P.ByteLevel(True, True),
        "Text MergedWithNext": P.Split(" ", "merged_with_next"),
        **{"Regex " + b: P.Split(Regex(split), b) for b in ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")},
        **{"Inverted " + b: P.Split(Regex(split), b, True) for b in ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")},
    }.items():
        yield {"name": name, "out": [[s for s, _ in p.pre_tokenize_str(t)] for t in TEXTS], "in": TEXTS}


def decoding():
    lists = [
        ["Hello", ",", "Ġworld", "Ċ", "Ã¼"], ["▁Hello", "▁wor", "ld", "▁"], ["un", "##aff", "##able", "do", "n't", ".", "it", "'s"], ["lo", "w</w>", "er</w>"],
        ["<0xE2>", "<0x82>", "<0xAC>", "x", "<0xFF>", "<0x41>", "<0xe2>"], ["h", "h", "<pad>", "e", "l", "<pad>", "l", "o", "|", "|", "w"], ["  a  ", "b ", "c"], [],
        ["naïve", "漢", "é"],
    ]
    for name, d in {
        "ByteLevel": decoders.ByteLevel(), "Metaspace": decoders.Metaspace(), "Metaspace never": decoders.Metaspace(prepend_scheme="never"), "WordPiece": decoders.WordPiece(),
        "WordPiece raw": decoders.WordPiece("##", False), "BPEDecoder": decoders.BPEDecoder(), "ByteFallback": decoders.ByteFallback(), "Fuse": decoders.Fuse(),
        "Strip": decoders.Strip(" ", 1, 1), "Replace": decoders.Replace("l", "L"), "CTC": decoders.CTC(), "CTC raw": decoders.CTC(cleanup=False),
    }.items():
        yield {"name": name, "in": lists, "out": [d.decode(list(l)) for l in lists]}


def added():
    tokens = [
        dict(content="<s>"), dict(content="<left>", lstrip=True), dict(content="<right>", rstrip=True), dict(content="<both>", lstrip=True, rstrip=True),
        dict(content="word", single_word=True), dict(content="<s><s>"), dict(content="ß"),
    ]
    t = Tokenizer(models.WordLevel({"[UNK]": 0}, "[UNK]"))
    t.add_tokens([AddedToken(normalized=False, **one) for one in tokens])
    texts = TEXTS + [
        "<s>a<s><s>b<s><s><s>", "x  <left>  y  <right>  z  <both>  ", "word words sword word-word wordß word", "<both> <both><left> <right>", "<s", "ßß<left>ß", "  <right>\n\t<s>",
    ]
    out = []
    for text in texts:
        e = t.encode(text)
        out.append([[i, text[a:b]] for i, (a, b) in zip(e.ids, e.offsets)])
    yield {"tokens": tokens, "in": texts, "out": out}


def trained():
    words = "low lower lowest new newer newest wide wider widest the quick brown fox jumps over the lazy dog naïve café 漢字 don't".split() * 3
    pieces = sorted(set(words)) + ["lowers", "newish", "unknown", "", "z", "héllo", "漢", "字字", "👍", "quickest", "thethe", "aa" * 60]
    makers = {
        "BPE": (models.BPE(unk_token="<unk>", fuse_unk=True), trainers.BpeTrainer(vocab_size=70, special_tokens=["<unk>"], show_progress=False)),
        "BPE unfused": (models.BPE(unk_token="<unk>"), trainers.BpeTrainer(vocab_size=70, special_tokens=["<unk>"], show_progress=False)),
        "BPE parts": (models.BPE(unk_token="<unk>", continuing_subword_prefix="##", end_of_word_suffix="</w>"),
                      trainers.BpeTrainer(vocab_size=90, special_tokens=["<unk>"], continuing_subword_prefix="##", end_of_word_suffix="</w>", show_progress=False)),
        "BPE fallback": (models.BPE(unk_token="<unk>", byte_fallback=True),
                         trainers.BpeTrainer(vocab_size=320, special_tokens=["<unk>"] + ["<0x%02X>" % b for b in range(256)], show_progress=False)),
        "WordPiece": (models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=20), trainers.WordPieceTrainer(vocab_size=90, special_tokens=["[UNK]"], show_progress=False)),
        "WordLevel": (models.WordLevel(unk_token="[UNK]"), trainers.WordLevelTrainer(vocab_size=15, special_tokens=["[UNK]"], show_progress=False)),
        "Unigram": (models.Unigram(), trainers.UnigramTrainer(vocab_size=60, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False)),
    }
    for name, (m, trainer) in makers.items():
        t = Tokenizer(m)
        t.pre_tokenizer = P.WhitespaceSplit()
        t.train_from_iterator(words, trainer)
        part = json.loads(t.to_str())["model"]
        yield {"name": name, "vocab": part["vocab"], "merges": part.get("merges"), "in": pieces, "out": [[x.id for x in t.model.tokenize(p)] for p in pieces]}


def files():
    """Whole tokenizer.json files, ids with and without what the post-processor adds, and the text of the ids."""
    words = "low lower lowest new newer newest wide wider widest the quick brown fox jumps over the lazy dog naïve café 漢字 don't 2024".split() * 3
    makers = {
        "bert": (models.WordPiece(unk_token="[UNK]"), trainers.WordPieceTrainer(vocab_size=90, special_tokens=["[UNK]", "[CLS]", "[SEP]"], show_progress=False), N.BertNormalizer(),
                 P.BertPreTokenizer(), lambda t: processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1)), decoders.WordPiece()),
        "roberta": (models.BPE(), trainers.BpeTrainer(vocab_size=320, special_tokens=["<s>", "</s>"], initial_alphabet=P.ByteLevel.alphabet(), show_progress=False), N.NFC(),
                    P.ByteLevel(True), lambda t: processors.RobertaProcessing(("</s>", 1), ("<s>", 0)), decoders.ByteLevel()),
        "unigram": (models.Unigram(), trainers.UnigramTrainer(vocab_size=60, special_tokens=["<unk>", "</s>"], unk_token="<unk>", show_progress=False),
                    N.Sequence([N.Replace(Regex(" {2,}"), " "), N.Strip()]), P.Sequence([P.WhitespaceSplit(), P.Metaspace()]),
                    lambda t: processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)]), decoders.Metaspace()),
        "words": (models.WordLevel(unk_token="[UNK]"), trainers.WordLevelTrainer(vocab_size=60, special_tokens=["[UNK]"], show_progress=False), N.Lowercase(),
                  P.Sequence([P.Split(" ", "removed"), P.Punctuation(), P.Digits(True), P.CharDelimiterSplit("_")]), lambda t: processors.Sequence([]), decoders.Fuse()),
        "suffix": (models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"), trainers.BpeTrainer(vocab_size=120, special_tokens=["<unk>"], end_of_word_suffix="</w>", show_progress=False),
                   None, P.Whitespace(), None, decoders.BPEDecoder()),
        "bytes as texts": (models.WordLevel(unk_token="[UNK]"), trainers.WordLevelTrainer(vocab_size=60, special_tokens=["[UNK]"], show_progress=False), None,
                           P.Sequence([P.ByteLevel(False, True), P.FixedLength(length=3)]), None, None),
    }
    for name, (m, trainer, norm, pre, post, dec) in makers.items():
        t = Tokenizer(m)
        t.pre_tokenizer = pre
        if norm:
            t.normalizer = norm
        t.train_from_iterator(words + ["quick brown"], trainer)
        if post:
            t.post_processor = post(t)
        if dec:
            t.decoder = dec
        ids = [t.encode(x, add_special_tokens=False).ids for x in TEXTS]
        yield {"name": name, "file": t.to_str(), "in": TEXTS, "ids": ids, "special": [t.encode(x).ids for x in TEXTS], "back": [t.decode(i, skip_special_tokens=False) for i in ids]}


for room, cases in {"normal": normalizers, "pretoken": pretokenizers, "pipeline": decoding, "added": added, "model": trained, "hf": files}.items():
    write(room, list(cases()))
