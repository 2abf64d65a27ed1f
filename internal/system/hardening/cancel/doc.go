// Package cancel holds tests of calls, turns and questions that are given up: before
// they begin, while they run, at the moment of their answer and after it, at either
// end and through proxies. It has no code of its own.
package cancel
