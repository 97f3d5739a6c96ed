"""Serves a GGUF file with llama.cpp's own server: llamaserver.py FILE PORT."""
import sys
import time

import xllamacpp

p = xllamacpp.CommonParams()
p.model.path = sys.argv[1]
p.hostnames, p.port = ["127.0.0.1"], int(sys.argv[2])
p.n_ctx, p.n_parallel, p.warmup = 8192, 4, False
p.cpuparams.n_threads = p.cpuparams_batch.n_threads = 1
p.use_jinja, p.model_alias, p.endpoint_metrics = True, ["tiny"], True
server = xllamacpp.Server(p)
print(server.listening_address, flush=True)
while True:
    time.sleep(60)
