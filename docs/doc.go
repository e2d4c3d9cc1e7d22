// Package docs holds pages of the documentation that the program prints.
//
//	in      the pages of this directory
//	out     their text
//	owner   none: it is part of the program
package docs

import _ "embed"

// Configuration is the reference of the configuration.
//
//go:embed configuration.md
var Configuration string
