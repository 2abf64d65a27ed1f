// Package schema has the JSON schemas of the protocol, from which the types of this project are generated.
// Checks judge by them what a peer sends, without the leniency of a reader.
package schema

import "embed"

// Files are the schemas: v1.json and v2.json have what is stable, and v1-unstable.json and
// v2-unstable.json have all of a version.
//
//go:embed *.json
var Files embed.FS
