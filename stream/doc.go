// Package stream carries whole messages between the two ends of a connection.
package stream
