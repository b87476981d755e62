(scores, epsilon, sensitivity) => {
  const best = Math.max(...scores);
  // The exponential mechanism divides by 2 * sensitivity.
  const weights = scores.map((q) => Math.exp(epsilon * (q - best) / sensitivity));
  const sum = weights.reduce((a, b) => a + b);
  return weights.map((w) => w / sum);
}
