// Where the model looked, drawn as `orderless predict --attention` draws it: the grid scaled to [0, 1], enlarged by
// Pillow's bicubic rule, in matplotlib's colours "inferno", more opaque where it is hotter.

const INFERNO = [
  [0, 0, 4], [11, 7, 36], [33, 12, 74], [60, 9, 101], [87, 16, 110], [112, 25, 110], [137, 34, 106], [163, 43, 98],
  [188, 55, 84], [209, 72, 67], [228, 91, 45], [241, 115, 29], [249, 142, 9], [252, 170, 15], [250, 200, 42], [243, 229, 90],
  [252, 255, 164],
];

/** Weights of the input cells for each of `size` outputs: [first cell, weights]. */
function bicubic(cells, size) {
  const kernel = (x) => {
    x = Math.abs(x);
    if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
    return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
  };
  const step = cells / size, stretch = Math.max(1, step), reach = 2 * stretch;
  return Array.from({ length: size }, (_, i) => {
    const centre = (i + 0.5) * step;
    const first = Math.max(0, Math.trunc(centre - reach + 0.5));
    const last = Math.min(cells, Math.trunc(centre + reach + 0.5));
    const weights = [];
    for (let k = first; k < last; k++) weights.push(kernel((k - centre + 0.5) / stretch));
    const sum = weights.reduce((a, b) => a + b, 0);
    return [first, weights.map((weight) => weight / sum)];
  });
}

/** Attention (rows of cells) as a smooth map of width x height values in [0, 1], row by row. */
export function heatMap(grid, width, height) {
  const cells = grid.flat(), low = Math.min(...cells), high = Math.max(...cells);
  const scaled = grid.map((row) => row.map((cell) => (high > low ? (cell - low) / (high - low) : 0)));
  const across = bicubic(grid[0].length, width), down = bicubic(grid.length, height);
  const wide = scaled.map((row) => across.map(([first, weights]) => weights.reduce((sum, w, k) => sum + w * row[first + k], 0)));
  const map = new Float32Array(width * height);
  down.forEach(([first, weights], y) => {
    for (let x = 0; x < width; x++) {
      let value = 0;
      for (let k = 0; k < weights.length; k++) value += weights[k] * wide[first + k][x];
      map[y * width + x] = Math.min(1, Math.max(0, value));
    }
  });
  return map;
}

export function drawHeat(canvas, grid, width, height) {
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d"), image = context.createImageData(width, height);
  heatMap(grid, width, height).forEach((value, i) => {
    const place = value * (INFERNO.length - 1), stop = Math.min(INFERNO.length - 2, Math.floor(place)), part = place - stop;
    for (let c = 0; c < 3; c++) image.data[4 * i + c] = INFERNO[stop][c] * (1 - part) + INFERNO[stop + 1][c] * part;
    image.data[4 * i + 3] = 255 * Math.min(0.75, 0.15 + 0.6 * value);
  });
  context.putImageData(image, 0, 0);
}
