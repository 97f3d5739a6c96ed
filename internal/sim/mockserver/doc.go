// Package mockserver is a simulated inference server whose behaviour is known exactly: when it writes each event, how many tokens each event holds,
// which requests fail and how. It supports chat completions, completions, embeddings, rankings, images, videos and transcripts over HTTP/1.1. It
// writes its own instants to a truth log, so that a measurement can be compared with what happened. It knows nothing of the client.
//
// Its words come from a list in which every word with its leading space is one token of o200k_base and remains one next to any other (words.go). So
// the counts that it reports are the counts that a client finds.
package mockserver
