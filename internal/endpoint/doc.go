// Package endpoint puts a turn into the words of an API and reads the API's answers: turn to request body, response bytes to content,
// usage and errors. It knows no sockets and no clocks. Every endpoint type is one value that describes itself (catalogue.go); the
// bodies and the reading of the types that are built lie in one file each.
package endpoint
