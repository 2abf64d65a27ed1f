package filename

// MatchElements reports whether a pattern matches the n elements of a path. Each element of the pattern
// matches one of the path, and "**" any number of them. match reports whether the pattern with the index p
// matches the element with the index i; of "**", whether it may contain this element. The cost is at most
// the product of the lengths.
func MatchElements(pattern []string, n int, match func(p, i int) bool) bool {
	reached := make([]bool, n+1) // how many elements the pattern so far may match
	reached[0] = true
	for p, text := range pattern {
		if text == "**" {
			for i := range n {
				reached[i+1] = reached[i+1] || reached[i] && match(p, i)
			}
			continue
		}
		for i := n - 1; i >= 0; i-- {
			reached[i+1] = reached[i] && match(p, i)
		}
		reached[0] = false
	}
	return reached[n]
}
