//! A genetic engine for anything: say how a gene is made and how fit a sequence of genes is, and let it evolve (BCN-6, BCN-8, after Genyal).
//!
//! Individuals are sequences of a fixed number of genes; fitness is maximised. Parents are chosen by tournament, a child is the head of one and the
//! tail of the other, and each of its genes is made anew with a small probability (Genyal's own operator kept a gene with that probability, which
//! made the search nearly random; that is not copied). It knows nothing of crashes: [`crate::search`] has the engine for those.
//!
//! ```
//! use rethrow_core::genyal::Genyal;
//!
//! // guess a word: a gene is a letter, fitness counts the letters that are right
//! let word: Vec<char> = "owo".chars().collect();
//! let letter = |rng: &mut rethrow_core::rng::Rng| char::from(b'a' + rng.below(26) as u8);
//! let right = |guess: &[char]| guess.iter().zip(&word).filter(|(a, b)| a == b).count() as f64;
//! let best = Genyal::new(letter, right).genes(3).until(|state| state.fitness >= 3.0).run(1);
//! assert_eq!(best.genes.iter().collect::<String>(), "owo");
//! ```

use crate::rng::Rng;

/// How far an evolution is.
#[derive(Clone, Debug)]
pub struct State<G> {
    /// Of the fittest individual so far.
    pub fitness: f64,
    pub genes: Vec<G>,
    /// Generations after the first.
    pub generation: usize,
    pub evaluations: u64,
}

/// See the module documentation. What is not set has a default.
pub struct Genyal<'a, G> {
    gene: Box<dyn FnMut(&mut Rng) -> G + 'a>,
    fitness: Fitness<'a, G>,
    stop: Stop<'a, G>,
    known: Known<'a, G>,
    genes: usize,
    population: usize,
    mutation: f64,
    matches: usize,
    elite: usize,
    generations: usize,
}

/// So many times for each of its genes a known child gets a new one.
const RENEWALS: usize = 4;

/// Says whether an evolution is over.
type Stop<'a, G> = Box<dyn Fn(&State<G>) -> bool + 'a>;

/// Says whether an individual need not be looked at again.
type Known<'a, G> = Box<dyn Fn(&[G]) -> bool + 'a>;

/// The fitness of each individual of a generation; a whole generation at once, because some fitness is measured by running many things together.
type Fitness<'a, G> = Box<dyn FnMut(&[Vec<G>]) -> Vec<f64> + 'a>;

impl<'a, G: Clone + 'a> Genyal<'a, G> {
    /// A gene factory and a fitness function.
    pub fn new(gene: impl FnMut(&mut Rng) -> G + 'a, mut fitness: impl FnMut(&[G]) -> f64 + 'a) -> Self {
        Genyal::in_batches(gene, move |all: &[Vec<G>]| all.iter().map(|genes| fitness(genes)).collect())
    }
    /// The same where the fitness of a whole generation is found at once. A missing value counts as 0.
    pub fn in_batches(gene: impl FnMut(&mut Rng) -> G + 'a, fitness: impl FnMut(&[Vec<G>]) -> Vec<f64> + 'a) -> Self {
        let (gene, fitness) = (Box::new(gene), Box::new(fitness));
        Genyal {
            gene,
            fitness,
            stop: Box::new(|_| false),
            known: Box::new(|_| false),
            genes: 8,
            population: 64,
            mutation: 0.01,
            matches: 5,
            elite: 1,
            generations: 500,
        }
    }
    /// Genes of an individual.
    #[must_use]
    pub fn genes(mut self, n: usize) -> Self {
        self.genes = n.max(1);
        self
    }
    #[must_use]
    pub fn population(mut self, n: usize) -> Self {
        self.population = n.max(1);
        self
    }
    /// The probability with which a gene of a child is made anew.
    #[must_use]
    pub fn mutation(mut self, rate: f64) -> Self {
        self.mutation = rate;
        self
    }
    /// Individuals that take part in a tournament.
    #[must_use]
    pub fn matches(mut self, n: usize) -> Self {
        self.matches = n.max(1);
        self
    }
    /// The fittest that live on unchanged; 0 as in Beacon.
    #[must_use]
    pub fn elite(mut self, n: usize) -> Self {
        self.elite = n;
        self
    }
    /// The last generation if nothing else ends it.
    #[must_use]
    pub fn generations(mut self, n: usize) -> Self {
        self.generations = n;
        self
    }
    /// Ends the evolution: asked after each generation.
    #[must_use]
    pub fn until(mut self, stop: impl Fn(&State<G>) -> bool + 'a) -> Self {
        self.stop = Box::new(stop);
        self
    }

    /// A child for which this holds gets genes made anew until it does not, or the attempts are over: where fitness is a function of the genes alone,
    /// looking at the same ones again shows nothing.
    #[must_use]
    pub fn known(mut self, known: impl Fn(&[G]) -> bool + 'a) -> Self {
        self.known = Box::new(known);
        self
    }

    /// Evolves; the same seed gives the same result.
    pub fn run(mut self, seed: u64) -> State<G> {
        let mut rng = Rng::stream(seed, "genyal");
        let first: Vec<Vec<G>> = (0..self.population).map(|_| (0..self.genes).map(|_| (self.gene)(&mut rng)).collect()).collect();
        let mut population = self.rated(first);
        let (fitness, genes) = population[0].clone();
        let mut state = State { fitness, genes, generation: 0, evaluations: population.len() as u64 };
        while !(self.stop)(&state) && state.generation < self.generations {
            let elite: Vec<(f64, Vec<G>)> = population.iter().take(self.elite.min(self.population)).cloned().collect();
            let children: Vec<Vec<G>> = (elite.len()..self.population).map(|_| self.child(&mut rng, &population)).collect();
            state.evaluations += children.len() as u64;
            population = self.rated(children);
            population.extend(elite);
            sort(&mut population);
            state.generation += 1;
            if population[0].0 > state.fitness {
                (state.fitness, state.genes) = population[0].clone();
            }
        }
        state
    }

    fn rated(&mut self, all: Vec<Vec<G>>) -> Vec<(f64, Vec<G>)> {
        let fitness = (self.fitness)(&all);
        let fitness = fitness.into_iter().chain(std::iter::repeat(0.0));
        let mut rated: Vec<(f64, Vec<G>)> = fitness.zip(all).collect();
        sort(&mut rated);
        rated
    }

    fn child(&mut self, rng: &mut Rng, population: &[(f64, Vec<G>)]) -> Vec<G> {
        let (a, b) = (self.tournament(rng, population), self.tournament(rng, population));
        let cut = rng.below(self.genes + 1);
        let mut child: Vec<G> = population[a].1[..cut].iter().chain(&population[b].1[cut..]).cloned().collect();
        for gene in &mut child {
            if rng.chance(self.mutation) {
                *gene = (self.gene)(rng);
            }
        }
        for _ in 0..RENEWALS * child.len() {
            if !(self.known)(&child) {
                break;
            }
            let at = rng.below(child.len());
            child[at] = (self.gene)(rng);
        }
        child
    }

    /// The fittest of a few: the population is sorted, so it is the smallest index.
    fn tournament(&self, rng: &mut Rng, population: &[(f64, Vec<G>)]) -> usize {
        (0..self.matches).map(|_| rng.below(population.len())).min().unwrap_or(0)
    }
}

/// Fittest first; a fitness that is not a number is the worst.
fn sort<G>(population: &mut [(f64, Vec<G>)]) {
    let key = |f: f64| if f.is_nan() { f64::NEG_INFINITY } else { f };
    population.sort_by(|a, b| key(b.0).total_cmp(&key(a.0)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ones(genes: &[u8]) -> f64 {
        genes.iter().map(|g| f64::from(*g)).sum()
    }
    fn bit(rng: &mut Rng) -> u8 {
        rng.below(2) as u8
    }

    #[test]
    fn bcn_8_only_a_factory_and_a_fitness_are_needed() {
        let best = Genyal::new(bit, ones).until(|s| s.fitness >= 8.0).run(7);
        assert_eq!(best.genes, [1; 8]);
        assert!(best.generation <= 500 && best.evaluations >= 64);
    }

    #[test]
    fn bcn_6_most_genes_of_a_child_are_its_parents() {
        // with the inverted operator nearly every gene would be new, so that no child could consist of zeros
        let mut made = 0;
        let gene = |_: &mut Rng| {
            made += 1;
            0u32
        };
        Genyal::new(gene, |_| 0.0).genes(10).population(20).generations(50).run(1);
        assert!((200..=200 + 50 * 20).contains(&made), "{made} of 10200 genes were made anew");
    }

    #[test]
    fn the_same_seed_gives_the_same_evolution_and_the_fittest_never_gets_worse() {
        let run = |seed| Genyal::new(bit, ones).genes(30).generations(5).run(seed);
        assert_eq!((run(3).genes, run(3).evaluations), (run(3).genes, 64 + 5 * 63));
        let long = Genyal::new(bit, ones).genes(30).generations(40).run(3);
        assert!(long.fitness >= run(3).fitness);
    }

    /// BCN-6: tournaments of five favour the fitter, and a child is the head of one parent and the tail of the other.
    #[test]
    fn bcn_6_a_child_has_one_cut_and_fit_parents() {
        let generations = std::cell::RefCell::new(Vec::new());
        let mut made = 0u32;
        // eight genes in a row belong to the same individual of the first generation, and higher ones are fitter
        let gene = |_: &mut Rng| {
            made += 1;
            (made - 1) / 8
        };
        let rate = |all: &[Vec<u32>]| {
            generations.borrow_mut().push(all.to_vec());
            all.iter().map(|genes| f64::from(genes[0])).collect()
        };
        Genyal::in_batches(gene, rate).mutation(0.0).elite(0).generations(1).run(5);
        let children = &generations.borrow()[1];
        assert_eq!(children.len(), 64);
        assert!(children.iter().all(|c| c.windows(2).filter(|w| w[0] != w[1]).count() <= 1));
        let mean = children.iter().flatten().map(|p| f64::from(*p)).sum::<f64>() / (64.0 * 8.0);
        assert!(mean > 45.0, "the mean of all is 31.5, of the best of five about 53: {mean}");
    }

    #[test]
    fn known_children_get_a_new_gene() {
        let seen = std::cell::RefCell::new(rustc_hash::FxHashSet::default());
        let count = |genes: &[u32]| {
            seen.borrow_mut().insert(genes.to_vec());
            0.0
        };
        let gene = |rng: &mut Rng| rng.next_u64() as u32;
        let run = |known: bool| {
            seen.borrow_mut().clear();
            Genyal::new(gene, count).population(10).generations(50).elite(0).known(|g| known && seen.borrow().contains(g)).run(1);
            seen.borrow().len()
        };
        // all but equal children of one generation
        assert!(run(true) > 480);
        assert!(run(false) < 400);
    }

    #[test]
    fn a_fitness_that_is_no_number_never_wins() {
        let odd = |genes: &[u8]| if genes[0] == 1 { f64::NAN } else { 1.0 };
        assert_eq!(Genyal::new(bit, odd).genes(1).generations(3).run(1).fitness, 1.0);
    }
}
