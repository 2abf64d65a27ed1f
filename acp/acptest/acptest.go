// Package acptest checks agents and clients.
package acptest
