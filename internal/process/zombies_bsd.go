//go:build unix && !linux

package process

// onlyZombies is not known here; it reports false. The wait for a group is bounded.
func onlyZombies(int) bool { return false }
