package dyngraph

import "unsafe"

// fetchLines asks for some lines of memory from a on, and for as many from b on. It only hints: any address will do.
//
//go:noescape
func fetchLines(a, b unsafe.Pointer, lines int)
