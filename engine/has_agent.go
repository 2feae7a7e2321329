package engine

// HasAgent reports whether this process has the agent, and so can carry out its jobs. The empty name is
// the default agent's.
func (e *Engine) HasAgent(name string) bool {
	_, err := e.registry.ByName(name)
	return err == nil
}
