// Package endpoint builds requests for an API and parses its answers. It converts turn and history to a request, and messages to content, usage and
// errors. It uses no sockets and no clocks. Every endpoint type is one row of catalogue.go that describes the type and opens its Codec (codec.go).
// The format of each type is in its own file. docs/howto/endpoint.md explains how to add a type.
package endpoint
