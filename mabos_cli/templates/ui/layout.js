// Places the boxes of a graph: linked ones near each other, none over another, all within a width. Same graph, same picture.

const TURN = Math.PI * (3 - Math.sqrt(5)); // golden angle: points on a spiral that do not line up
const IDEAL = 130; // distance of boxes that are linked
const STEPS = 160;
const MOST = 1.8; // times that a picture is drawn larger
const GAP_X = 18;
const GAP_Y = 14;
const FAR = 3 * IDEAL; // boxes further apart leave each other alone, so that pieces without a link stay near

// boxes: [{width, height}], links: [[from, to]] by number; box 0 starts in the middle. Returns their centres and the height.
export function layOut(boxes, links, width) {
  const reach = (IDEAL / 2) * Math.sqrt(boxes.length);
  const places = boxes.map((box, n) => ({ x: reach * Math.sqrt(n / boxes.length) * Math.cos(n * TURN), y: reach * Math.sqrt(n / boxes.length) * Math.sin(n * TURN), ...box }));
  for (let step = 0; step < STEPS; step++) settle(places, links, (reach / 4) * (1 - step / STEPS) + 0.5);
  fit(places, width);
  part(places, width);
  const top = Math.min(...places.map((one) => one.y - one.height / 2));
  for (const one of places) one.y += 8 - top;
  return { places, height: Math.max(...places.map((one) => one.y + one.height / 2)) + 8 };
}

// Moves every box by the forces on it, at most so far: all push each other away, links and the middle pull.
function settle(places, links, most) {
  const forces = places.map(({ x, y }) => [-0.1 * x, -0.1 * y]);
  const act = (a, b, share) => {
    const dx = places[a].x - places[b].x;
    const dy = places[a].y - places[b].y;
    const by = share(Math.hypot(dx, dy) + 0.01);
    forces[a][0] += dx * by; forces[a][1] += dy * by;
    forces[b][0] -= dx * by; forces[b][1] -= dy * by;
  };
  for (let a = 0; a < places.length; a++) for (let b = a + 1; b < places.length; b++) act(a, b, (far) => (far < FAR ? (IDEAL * IDEAL) / (far * far) : 0));
  for (const [a, b] of links) if (a !== b) act(a, b, (far) => -far / IDEAL);
  places.forEach((one, n) => {
    const [fx, fy] = forces[n];
    const share = Math.min(1, most / (Math.hypot(fx, fy) || 1));
    one.x += fx * share;
    one.y += fy * share;
  });
}

// Scales the picture to the width, and to a height that has room for all boxes.
function fit(places, width) {
  const area = places.reduce((sum, one) => sum + (one.width + GAP_X) * (one.height + GAP_Y), 0);
  const height = Math.max(60 * Math.min(4, places.length), (2.4 * area) / width);
  const range = (name) => [Math.min(...places.map((one) => one[name])), Math.max(...places.map((one) => one[name]))];
  const [[left, right], [top, bottom]] = [range("x"), range("y")];
  const widest = Math.max(...places.map((one) => one.width));
  const [byX, byY] = [Math.min(MOST, (width - widest - 8) / (right - left || 1)), Math.min(MOST, height / (bottom - top || 1))];
  for (const one of places) {
    one.x = width / 2 + (one.x - (left + right) / 2) * byX;
    one.y = (one.y - top) * byY;
  }
}

// Pushes boxes apart until none overlap; up and down there is always room.
function part(places, width) {
  for (let turn = 0; turn < 600; turn++) {
    let moved = false;
    for (let a = 0; a < places.length; a++) {
      for (let b = a + 1; b < places.length; b++) {
        const [one, other] = [places[a], places[b]];
        const overX = (one.width + other.width) / 2 + GAP_X - Math.abs(one.x - other.x);
        const overY = (one.height + other.height) / 2 + GAP_Y - Math.abs(one.y - other.y);
        if (overX <= 0.01 || overY <= 0.01) continue;
        moved = true;
        const [axis, over] = overX < overY && turn < 40 ? ["x", overX] : ["y", overY];
        const sign = one[axis] > other[axis] || (one[axis] === other[axis] && a < b) ? 1 : -1;
        one[axis] += sign * (over / 2 + 0.5);
        other[axis] -= sign * (over / 2 + 0.5);
        for (const each of [one, other]) each.x = Math.max(each.width / 2 + 2, Math.min(width - each.width / 2 - 2, each.x));
      }
    }
    if (!moved) return;
  }
}
