package live

// A thread can get another owner while clients follow it. All followers share the frames of a hub, and
// the hub has no actor of its own. So the hub keeps the owner that the thread had when the hub read the
// frames. A follower that may see only its own threads compares that owner before it passes frames on.
// If the hub does not know the owner, or the owner is another subject, the follower asks the store.

// ownerChanged makes the followers ask the store for the owner from now on.
func (r *ring) ownerChanged() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owner.known = false
	r.owner.changes++
	r.change()
}

// ownerChanges returns the number of owner changes. A reader calls it before the read and passes it to
// [ring.sawOwner].
func (r *ring) ownerChanges() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.owner.changes
}

// sawOwner notes the owner that was read together with the next frames. It does nothing if the owner
// has changed since the read began.
func (r *ring) sawOwner(subject string, changes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.owner.changes != changes {
		return
	}
	if r.owner.subject != subject {
		r.change()
	}
	r.owner.subject, r.owner.known = subject, true
}

// missedOwner notes that the next frames were read without the owner.
func (r *ring) missedOwner() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owner.known = false
}

// ownedBy reports whether the subject owned the thread at the hub's last read.
func (r *ring) ownedBy(subject string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.owner.known && r.owner.subject == subject
}
