// Package codec compares the codecs of package acp with jsontext, which is a
// dependency of this module so that acpkit need not have it. Run it in the folder of
// the module:
//
//	go test -run '^$' -bench . ./codec
package codec
