package cpu

// ordersAhead is how many orders are read ahead together: they take some ten lines of the cache each.
const ordersAhead = 32

// readAhead reads the orders of starts from one net edge. Where many patterns are registered they are in no cache,
// and each begins with reads that wait for each other; those of several orders overlap. Orders that end with the
// anchor are not looked at.
func (w *worker) readAhead(starts []start, net uint32) {
	read, live := 0, w.live[:0]
	for i := range starts {
		if !w.se.HasNoThird(starts[i].third, net) {
			live = append(live, starts[i].order)
		}
	}
	for _, o := range live {
		read += o.SortedTail
	}
	for _, o := range live {
		read += int(o.StepKeys[0])
		for k := range o.Steps[:min(4, len(o.Steps))] {
			read += o.Steps[k].Slot + len(o.Steps[k].Back)
		}
	}
	for _, o := range live {
		for k := 2; k < min(4, len(o.Steps)); k++ {
			read += o.Steps[k].Back[0].ListKey
		}
	}
	w.read += read
	w.live = live
}
