package htmlreport

import "testing"

// TestPlaces: the page has the names of files and no directory above them, in every spelling; what only looks like a path stays.
func TestPlaces(t *testing.T) {
	for command, want := range map[string]string{
		"aiperf profile --artifact-dir '/home/me/x y' -m m":                              "aiperf profile --artifact-dir artifacts/run -m m",
		"/opt/tools/aiperf profile --output-artifact-dir=out/a -m m":                     "aiperf profile --output-artifact-dir=artifacts/run -m m",
		"aiperf profile --input-file /home/me/acme/p.jsonl --streaming":                  "aiperf profile --input-file p.jsonl --streaming",
		"aiperf profile --input-file=acme/p.jsonl":                                       "aiperf profile --input-file=p.jsonl",
		"aiperf profile --input-file '/home/me/big corp/my prompts.jsonl' --isl 3":       "aiperf profile --input-file 'my prompts.jsonl' --isl 3",
		"aiperf profile --input-file '/home/big corp/p.jsonl'":                           "aiperf profile --input-file p.jsonl",
		"aiperf profile -f ~/acme/run.yaml --tokenizer /models/acme/tok/":                "aiperf profile -f run.yaml --tokenizer tok",
		`aiperf profile --tls-key-file C:\Users\me\k.pem`:                                "aiperf profile --tls-key-file k.pem",
		"aiperf profile --tokenizer meta/llama -m /models/llama --endpoint /v1/chat/all": "aiperf profile --tokenizer meta/llama -m /models/llama --endpoint /v1/chat/all",
		"aiperf profile --url http://host/a/b --isl 128,256 --header 'A: b/c'":           "aiperf profile --url http://host/a/b --isl 128,256 --header 'A: b/c'",
		"aiperf profile --unknown ../up/x.json":                                          "aiperf profile --unknown x.json",
		"aiperf profile --server-profiler-start-path /start --isl 3":                     "aiperf profile --server-profiler-start-path /start --isl 3",
		"aiperf profile --system-prompt '/think of a/b twice' --extra-inputs mode:/fast": "aiperf profile --system-prompt '/think of a/b twice' --extra-inputs mode:/fast",
		"aiperf profile --unknown /think --other / --more ~":                             "aiperf profile --unknown /think --other / --more ~",
		"": "",
	} {
		if got := withoutDirectories(command); got != want {
			t.Errorf("%s\n gives %s\n want  %s", command, got, want)
		}
	}
	for _, one := range []struct{ key, value, want string }{
		{"datasets.main.path", "/home/me/p.jsonl", "p.jsonl"}, {"datasets.main.path", "acme/p.jsonl", "p.jsonl"}, {"endpoint.path", "/v1/x", "/v1/x"},
		{"tokenizer.name", "/data/me/tok", "tok"}, {"tokenizer.name", "meta/llama", "meta/llama"}, {"endpoint.urls", "http://a/b", "http://a/b"}, {"models", "/models/llama", "/models/llama"}, {"endpoint.reset_kv_cache.path", "/flush_cache", "/flush_cache"}, {"endpoint.server_profiler.start_path", "/start", "/start"},
		{"endpoint.tls.ca_file", "keys/ca.pem", "ca.pem"},
	} {
		if got := place(one.key, one.value); got != one.want {
			t.Errorf("%s = %s is %q, want %q", one.key, one.value, got, one.want)
		}
	}
}
