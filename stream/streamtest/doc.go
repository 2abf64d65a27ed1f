// Package streamtest checks that a [stream.Stream] keeps its contract. Use it in
// the tests of a stream of your own:
//
//	func TestMyStream(t *testing.T) {
//		streamtest.Test(t, func() (a, b stream.Stream) {
//			x, y := net.Pipe()
//			return mystream.New(x), mystream.New(y)
//		})
//	}
package streamtest
