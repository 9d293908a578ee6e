// What was lost, in words: the same in the panel and of a step that is tried.
import { number } from "../store.js";

// What a measure says in one line, or two. Recoded values are no errors, but whoever recoded all ages wants to
// see it; a sum over all records (entropy) means something only as a share.
export function lossLines(name, r, method) {
  const title = method?.title || name;
  if (r.figures.values_recoded) return [[name, "Values recoded", number(r.figures.values_recoded)], [name, `${title}, beyond recoding`, number(r.value, true)]];
  if (!method?.share && typeof r.figures.share === "number") return [[name, `${title}, share lost`, number(r.figures.share, true)]];
  const lines = [[name, title, number(r.value, method?.share)]];
  if (r.figures.largest_share > r.value) lines.push([name, `${title}, in the column that lost most`, number(r.figures.largest_share, true)]);
  return lines;
}
