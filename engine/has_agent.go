package engine

// HasAgent reports whether this process has the agent, and so can execute its jobs. The empty name
// stands for the default agent.
func (e *Engine) HasAgent(name string) bool {
	_, err := e.registry.ByName(name)
	return err == nil
}
