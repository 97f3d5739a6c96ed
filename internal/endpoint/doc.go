// Package endpoint puts turns into the words of an API and reads the API's answers: turn and history to request, messages to content,
// usage and errors. It knows no sockets and no clocks. Every endpoint type is one row that describes itself (catalogue.go) and opens a
// Codec (codec.go); how a type speaks stands in one file of its own. docs/howto/endpoint.md says how to add one.
package endpoint
