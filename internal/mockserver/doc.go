// Package mockserver is a simulated inference server whose behaviour is known exactly: when it writes each event, how many tokens each
// holds, which requests fail and how. It speaks chat completions, completions, embeddings, rankings, images, films and transcripts over HTTP/1.1, and writes its
// own instants to a truth log, so that a measurement can be held against what was done. It knows nothing of the client.
//
// Words come from a list in which every word with its blank is one token of o200k_base and stays one beside any other (words.go), so
// that the counts it reports are the counts a client finds.
package mockserver
