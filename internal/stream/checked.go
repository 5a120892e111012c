package stream

// Poison is the byte that idle chunks of a checked pool are filled with. It is neither zero nor likely in test data.
const Poison = 0xDB

// poison proves that a block which was given back is all zero, and fills it with Poison.
func (p *Pool) poison(b *block) {
	if !filledWith(b.data, 0) {
		p.faults.Add(1)
	}
	for i := range b.data {
		b.data[i] = Poison
	}
}

// unpoison proves that nobody wrote to an idle block, and clears it.
func (p *Pool) unpoison(b *block) {
	if !filledWith(b.data, Poison) {
		p.faults.Add(1)
	}
	clear(b.data)
}

// filledWith tells whether every byte of data is want.
func filledWith(data []byte, want byte) bool {
	for _, got := range data {
		if got != want {
			return false
		}
	}
	return true
}
