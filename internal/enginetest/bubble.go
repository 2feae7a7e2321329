package enginetest

// NeedsBubble reports whether a case needs a bubble.
func NeedsBubble(name string) bool { return false }
