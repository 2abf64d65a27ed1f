// Package migrate holds docs/coming-from-coder.md to what it tells about: every name
// that github.com/coder/acp-go-sdk exports stands on the page, and every name the page
// gives in its place exists.
package migrate
