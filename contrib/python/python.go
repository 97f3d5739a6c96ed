// Package python contains the Python module for plug-ins of aiperf, which is a Python package in this folder. Module is its source, which
// aiperf plugins new puts next to a program.
package python

import _ "embed" // for Module

// Module is the source of the module aiperf_plugin: one file without dependencies.
//
//go:embed aiperf_plugin/__init__.py
var Module string
