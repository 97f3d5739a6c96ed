//go:build !unix

package openfiles
