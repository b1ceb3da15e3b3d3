package taskgraph

import (
	"slices"
	"strings"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/iterator"
	"gonum.org/v1/gonum/graph/topo"
)

// maxShown bounds the ids of a cycle that a message names.
const maxShown = 32

// cycles names one shortest cycle through the least id of every knot in rest, "a -> b -> a", in id order.
func cycles(p *plan, rest []int) []string {
	if len(rest) == 0 {
		return nil
	}
	var paths []string
	for _, knot := range topo.TarjanSCC(newKnots(p, rest)) {
		in := make(map[int]bool, len(knot))
		least := int(knot[0].ID())
		for _, n := range knot {
			in[int(n.ID())] = true
			least = min(least, int(n.ID()))
		}
		if path := shortest(p, least, in); path != nil {
			paths = append(paths, spell(p, path))
		}
	}
	slices.Sort(paths)
	return paths
}

// shortest is the shortest way from start back to start within in, breadth first in id order; nil when there is none.
func shortest(p *plan, start int, in map[int]bool) []int {
	from := map[int]int{}
	queue := []int{start}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, j := range p.next.of(at) {
			if j == start {
				path := []int{start}
				for ; at != start; at = from[at] {
					path = append(path, at)
				}
				path = append(path, start)
				slices.Reverse(path)
				return path
			}
			if _, seen := from[j]; !seen && in[j] {
				from[j] = at
				queue = append(queue, j)
			}
		}
	}
	return nil
}

func spell(p *plan, path []int) string {
	ids := make([]string, 0, min(len(path), maxShown+2))
	for k, i := range path {
		if k == maxShown && len(path) > maxShown+1 {
			ids = append(ids, "…", shown(p.tasks[path[0]].ID))
			break
		}
		ids = append(ids, shown(p.tasks[i].ID))
	}
	return strings.Join(ids, " -> ")
}

// knots shows the unplaced part of a plan to gonum: nodes and edges in id order, so that answers repeat.
type knots struct {
	p     *plan
	nodes []graph.Node
	in    map[int64]bool
}

var _ graph.Directed = knots{}

type node int64

// ID is the position in the plan.
func (n node) ID() int64 { return int64(n) }

func newKnots(p *plan, rest []int) knots {
	k := knots{p: p, nodes: make([]graph.Node, len(rest)), in: make(map[int64]bool, len(rest))}
	for i, r := range rest {
		k.nodes[i] = node(r)
		k.in[int64(r)] = true
	}
	return k
}

// Node implements graph.Graph.
func (k knots) Node(id int64) graph.Node {
	if !k.in[id] {
		return nil
	}
	return node(id)
}

// Nodes implements graph.Graph.
func (k knots) Nodes() graph.Nodes { return iterator.NewOrderedNodes(k.nodes) }

// From implements graph.Graph: what waits for id.
func (k knots) From(id int64) graph.Nodes { return k.some(k.p.next.of(int(id))) }

// To implements graph.Directed: what id waits for.
func (k knots) To(id int64) graph.Nodes { return k.some(k.p.deps.of(int(id))) }

func (k knots) some(ids []int) graph.Nodes {
	nodes := make([]graph.Node, 0, len(ids))
	for _, i := range ids {
		if k.in[int64(i)] {
			nodes = append(nodes, node(i))
		}
	}
	return iterator.NewOrderedNodes(nodes)
}

// HasEdgeFromTo implements graph.Directed.
func (k knots) HasEdgeFromTo(u, v int64) bool {
	return k.in[u] && k.in[v] && slices.Contains(k.p.next.of(int(u)), int(v))
}

// HasEdgeBetween implements graph.Graph.
func (k knots) HasEdgeBetween(u, v int64) bool { return k.HasEdgeFromTo(u, v) || k.HasEdgeFromTo(v, u) }

// Edge implements graph.Graph.
func (k knots) Edge(u, v int64) graph.Edge {
	if !k.HasEdgeFromTo(u, v) {
		return nil
	}
	return edge{from: node(u), to: node(v)}
}

type edge struct{ from, to node }

// From implements graph.Edge.
func (e edge) From() graph.Node { return e.from }

// To implements graph.Edge.
func (e edge) To() graph.Node { return e.to }

// ReversedEdge implements graph.Edge.
func (e edge) ReversedEdge() graph.Edge { return edge{from: e.to, to: e.from} }
