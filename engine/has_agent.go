package engine

// HasAgent reports whether this process can carry out a job that names the agent. The
// empty name is the default agent's.
func (e *Engine) HasAgent(name string) bool {
	_, err := e.registry.ByName(name)
	return err == nil
}
