"use strict";
/* The events in the page become tables and pictures. Texts of models and records enter as text nodes alone. */
(() => {
	/* ---- elements ---- */

	const clean = s => String(s).replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "?");

	const fill = (node, attributes, children) => {
		for (const [key, value] of Object.entries(attributes || {}))
			if (value !== null && value !== undefined && value !== false)
				node.setAttribute(key, value === true ? "" : value);
		for (const child of children.flat(Infinity))
			if (child !== null && child !== undefined && child !== "")
				node.append(child instanceof Node ? child : document.createTextNode(clean(child)));
		return node;
	};
	const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
	const svg = (name, attributes, ...children) =>
		fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

	/* ---- numbers ---- */

	const none = "\u2013";
	const known = v => typeof v === "number" && isFinite(v) && v > 0;
	const group = n => Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");
	const ms = v => !known(v) ? none : v >= 0.1 ? v.toFixed(3) : Number(v.toPrecision(3)).toString();
	const fixed = (v, digits) => known(v) ? v.toFixed(digits) : none;
	const times = v => known(v) ? v.toFixed(2) + "\u00d7" : none;
	const percent = (v, digits = 0) => typeof v === "number" && isFinite(v) ? (100 * v).toFixed(digits) + " %" : none;
	const big = n => n < 1e6 ? group(n) : Number(n.toPrecision(2)).toExponential().replace("e+", "\u00b710^");
	const time = us => us >= 1e3 ? Number((us / 1e3).toPrecision(3)) + " ms" : Number(us.toPrecision(3)) + " \u00b5s";
	const sum = list => list.reduce((a, b) => a + b, 0);
	const plural = (n, one, many) => group(n) + " " + (n === 1 ? one : many || one + "s");

	/* ---- events become Tasks and their trials ---- */

	const data = JSON.parse(document.getElementById("data").textContent);
	const kinds = Object.keys(data.names);
	const ofRun = data.from === "run";
	const events = data.rows.map(row =>
		Object.fromEntries([["event", kinds[row[0]]], ...data.names[kinds[row[0]]].map((n, i) => [n, row[i + 1]])]));
	const first = kind => events.find(e => e.event === kind);
	const session = first("session") || {}, network = first("network"), end = first("end");
	const tasks = new Map(), sumLine = [], otherStages = { race: 0, network: 0 };

	const taskOf = id => {
		if (!tasks.has(id))
			tasks.set(id, { id, op: "?", weight: 1, trials: [], proposed: new Map(), staged: [], final: null });
		return tasks.get(id);
	};
	for (const e of events) {
		const t = e.task !== undefined ? taskOf(e.task) : null;
		if (e.event === "task") {
			Object.assign(t, { op: e.op, weight: e.weight, flops: e.flops, bytes: e.bytes, roof: e.roof_ms,
				space: e.space, before: e.best_ms });
		} else if (e.event === "proposed") {
			t.proposed.set(e.trace, e);
		} else if (e.event === "measured" && (e.stage === "race" || e.stage === "network")) {
			otherStages[e.stage]++;
			t.staged.push({ status: e.status, stage: e.stage, detail: e.detail, ms: e.median_ns / 1e6,
				source: (t.proposed.get(e.trace) || {}).source });
		} else if (e.event === "measured") {
			const p = t.proposed.get(e.trace) || {};
			t.trials.push({ n: t.trials.length + 1, at: e.at_s, us: e.median_ns / 1e3, spread: e.spread_ns / 1e3,
				status: e.status, detail: e.detail, samples: e.samples, record: e.record, trace: e.trace, stage: e.stage,
				source: p.source || "", believed: (p.believed_ns || 0) / 1e3 });
		} else if (e.event === "best" && known(e.tasks_ms) && otherStages.race + otherStages.network === 0) {
			sumLine.push([e.at_s, e.tasks_ms]);
		} else if (e.event === "outcome") {
			t.final = e;
			t.weight = e.weight;
		}
	}

	/* Records name no best: the latest stage decides, as docs/records.md says. */
	for (const t of tasks.values()) {
		const ran = t.trials.filter(x => x.status === "ok");
		const stage = name => t.staged.filter(x => x.stage === name && x.status === "ok");
		const list = [stage("network"), stage("race"), ran.map(x => ({ ms: x.us / 1e3, source: x.source }))].find(x => x.length > 0) || [];
		const f = t.final, plain = list.filter(x => x.source === "default"), least = l => l.length > 0 ? Math.min(...l.map(x => x.ms)) : null;
		t.best = f ? f.best_ms : least(list);
		t.plain = f ? f.default_ms : least(plain);
		t.count = f ? f.trials : t.trials.length + t.staged.length;
		t.failed = f ? f.failed : t.count - ran.length - t.staged.filter(x => x.status === "ok").length;
		t.rate = known(t.best) && t.flops > 0 ? t.flops / t.best / 1e6 : null;
		t.gain = known(t.best) && known(t.plain) ? t.plain / t.best : null;
		t.near = known(t.best) && known(t.roof) ? t.roof / t.best : null;
		t.cost = known(t.best) ? t.best * t.weight : 0;
		t.good = t.trials.filter(x => x.status === "ok" && x.us > 0);
		t.ranks = spearman(t.good.filter(x => x.believed > 0).map(x => [x.believed, x.us]));
	}
	const all = [...tasks.values()], running = all.filter(t => t.weight > 0);
	const total = sum(running.map(t => t.cost));
	const withDefault = all.some(t => known(t.plain));
	const byCost = [...running].sort((a, b) => b.cost - a.cost);
	const trials = all.flatMap(t => t.trials), sources = [];
	for (const x of trials)
		if (x.source !== "" && !sources.includes(x.source))
			sources.push(x.source);
	const colour = source => source === "" ? "c6" : "c" + Math.min(6, sources.indexOf(source));
	const short = t => t.id.slice(0, 7);

	/* Rank correlation: that of the ranks, ties at their mean. */
	function spearman(pairs) {
		if (pairs.length < 4)
			return null;
		const ranks = i => {
			const order = pairs.map((p, k) => [p[i], k]).sort((a, b) => a[0] - b[0]), r = [];
			for (let k = 0, j; k < order.length; k = j) {
				for (j = k; j < order.length && order[j][0] === order[k][0];)
					j++;
				for (let m = k; m < j; m++)
					r[order[m][1]] = (k + j - 1) / 2;
			}
			return r;
		};
		const x = ranks(0), y = ranks(1), mean = (pairs.length - 1) / 2;
		const cov = sum(x.map((v, k) => (v - mean) * (y[k] - mean)));
		const both = Math.sqrt(sum(x.map(v => (v - mean) ** 2)) * sum(y.map(v => (v - mean) ** 2)));
		return both > 0 ? cov / both : null;
	}

	/* ---- tables: columns of { name, text?, value, show }, sorted by a click on a head ---- */

	function table(caption, columns, rows, sortBy = -1) {
		const body = el("tbody");
		let at = sortBy, down = true;
		const draw = () => {
			const list = [...rows];
			if (at >= 0)
				list.sort((a, b) => {
					const x = columns[at].value(a), y = columns[at].value(b);
					const order = x === null || y === null || x === undefined || y === undefined
						? (y ?? null) === null ? ((x ?? null) === null ? 0 : down ? 1 : -1) * -1 : (down ? 1 : -1)
						: typeof x === "string" ? x.localeCompare(y) : x - y;
					return down ? -order : order;
				});
			body.replaceChildren(...list.map(row => el("tr", {}, columns.map(c =>
				el("td", { class: c.op ? "op" : c.text ? "text" : null }, c.show ? c.show(row) : c.value(row))))));
			heads.forEach((h, k) => k === at ? h.setAttribute("aria-sort", down ? "descending" : "ascending")
				: h.removeAttribute("aria-sort"));
		};
		const heads = columns.map((c, k) => {
			const button = el("button", { type: "button", title: c.title || null }, c.name);
			button.addEventListener("click", () => {
				down = at === k ? !down : !c.text;
				at = k;
				draw();
			});
			return el("th", { scope: "col", class: c.text ? "text" : null }, button);
		});
		draw();
		return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
			el("table", {}, el("caption", {}, caption), el("thead", {}, el("tr", {}, heads)), body));
	}
	/* Tables of thousands of rows are made when they are opened. */
	function behind(title, make) {
		const details = el("details", {}, el("summary", {}, title));
		details.addEventListener("toggle", () => details.childElementCount === 1 && details.append(make()));
		return details;
	}
	/* At most so many of a list, evenly; those that matter are kept. */
	const thin = (list, most, matters = () => false) => {
		const step = Math.ceil(list.length / most);
		return list.filter((x, k) => k % step === 0 || matters(x));
	};

	/* ---- pictures ---- */

	const charts = [];
	/* A figure that is drawn anew for each width of its place. */
	function chart(title, text, draw, caption) {
		const place = el("div"), figure = el("figure", {}, place, caption ? el("figcaption", {}, caption) : null);
		const paint = () => {
			const width = Math.max(220, Math.round(place.clientWidth || 320));
			if (width === place.width)
				return;
			place.width = width;
			const [height, children] = draw(width);
			place.replaceChildren(svg("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img",
				"aria-label": title + ". " + text }, svg("title", {}, title), svg("desc", {}, text), children));
		};
		charts.push([place, paint]);
		return figure;
	}
	const log = Math.log10;
	/* Maps a range of values to pixels; ticks at 1, 2 and 5 of each power of ten, or at whole powers if many. */
	function logScale(lo, hi, from, to) {
		lo = log(lo);
		hi = log(hi);
		const scale = v => from + (to - from) * (log(v) - lo) / (hi - lo || 1);
		scale.ticks = [];
		const steps = hi - lo > 2.2 ? [1] : hi - lo > 0.75 ? [1, 2, 5] : hi - lo > 0.3 ? [1, 1.5, 2, 3, 5, 7]
			: [1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9];
		for (let p = Math.floor(lo); p <= hi; p++)
			for (const s of steps)
				if (log(s) + p >= lo - 1e-9 && log(s) + p <= hi + 1e-9)
					scale.ticks.push(s * 10 ** p);
		return scale;
	}
	function linScale(lo, hi, from, to) {
		const scale = v => from + (to - from) * (v - lo) / (hi - lo || 1);
		const raw = (hi - lo) / Math.max(2, Math.abs(to - from) / 70) || 1, power = 10 ** Math.floor(log(raw));
		const step = power * ([1, 2, 5, 10].find(s => s * power >= raw) || 10);
		scale.ticks = [];
		for (let v = Math.ceil(lo / step) * step; v <= hi + step * 1e-6; v += step)
			scale.ticks.push(Number(v.toPrecision(6)));
		return scale;
	}
	const plain = v => v >= 1000 && v < 1e7 ? group(v) : Number(v.toPrecision(3)).toString();
	function axes(x, y, box, names, say = plain, sayY = plain) {
		const out = [], crowd = Math.ceil(x.ticks.length * 42 / (box.right - box.left));
		for (const v of y.ticks)
			out.push(svg("line", { class: "rule", x1: box.left, x2: box.right, y1: y(v), y2: y(v) }),
				svg("text", { x: box.left - 6, y: y(v) + 4, "text-anchor": "end" }, sayY(v)));
		x.ticks.forEach((v, k) => k % crowd === 0 && out.push(
			svg("text", { x: x(v), y: box.bottom + 16, "text-anchor": "middle" }, say(v))));
		out.push(svg("line", { class: "axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }),
			svg("text", { x: box.right, y: box.bottom + 32, "text-anchor": "end" }, names[0]),
			svg("text", { x: Math.max(0, box.left - 40), y: box.top - 8 }, names[1]));
		return out;
	}
	/* Sources differ by colour and by form. */
	function mark(source, x, y, r, title) {
		const k = sources.indexOf(source) % 7, c = "mark " + colour(source);
		const poly = points => svg("polygon", { class: c, points: points.map(p => (x + p[0] * r).toFixed(1) + "," +
			(y + p[1] * r).toFixed(1)).join(" ") }, title ? svg("title", {}, title) : null);
		if (k === 1)
			return poly([[-.9, -.9], [.9, -.9], [.9, .9], [-.9, .9]]);
		if (k === 2)
			return poly([[0, -1.25], [1.15, .85], [-1.15, .85]]);
		if (k === 3)
			return poly([[0, -1.35], [1.35, 0], [0, 1.35], [-1.35, 0]]);
		if (k === 4)
			return poly([[0, 1.25], [1.15, -.85], [-1.15, -.85]]);
		if (k === 5)
			return poly([[-.4, -1.2], [.4, -1.2], [.4, -.4], [1.2, -.4], [1.2, .4], [.4, .4], [.4, 1.2], [-.4, 1.2], [-.4, .4],
				[-1.2, .4], [-1.2, -.4], [-.4, -.4]]);
		if (k === 6)
			return svg("circle", { class: "open " + colour(source), cx: x, cy: y, r: r * .8 }, title ? svg("title", {}, title) : null);
		return svg("circle", { class: c, cx: x, cy: y, r }, title ? svg("title", {}, title) : null);
	}
	const legend = () => sources.length === 0 ? null : el("ul", { class: "legend" }, (ofRun ? sources : [...sources, ""])
		.map(s => el("li", {}, svg("svg", { viewBox: "-6 -6 12 12", "aria-hidden": "true" }, mark(s, 0, 0, 4.2)), s || "others")));

	/* ---- the network, before and after ---- */

	function gainTile() {
		const n = network;
		if (!n || !known(n.network_ms))
			return el("div", { class: "tile wide" }, el("h2", {}, "Network"), el("div", { class: "big" }, "not timed"),
				el("p", {}, !ofRun ? "Records hold the times of Tasks, not that of the network." :
					(n && n.network_why) || "The run ended before the network was timed."));
		const least = n.gain_least, most = n.gain_most, sure = known(least) && least > 1, slower = known(most) && most < 1;
		const word = !known(least) ? "The interval is not known: fewer than two rounds were timed."
			: sure ? `${times(least)} to ${times(most)} as fast (95 % interval).`
				: slower ? `Slower: ${times(least)} to ${times(most)} as fast (95 % interval).`
					: `No gain beyond noise: ${times(least)} to ${times(most)} as fast (95 % interval).`;
		const figure = !known(least) ? null : chart("Gain of the network", word, width => {
			const lo = Math.min(0.95, least * 0.97), hi = Math.max(1.05, most * 1.03), x = logScale(lo, hi, 8, width - 8);
			const mid = Math.sqrt(least * most), wide = Math.max(3, x(most) - x(least));
			return [44, [svg("line", { class: "axis", x1: 8, x2: width - 8, y1: 16, y2: 16 }),
				svg("rect", { class: "bar pale", x: x(least), y: 9, width: wide, height: 14, rx: 4 }),
				svg("line", { class: "thin", x1: x(1), x2: x(1), y1: 3, y2: 29, "stroke-dasharray": "3 2" }),
				svg("circle", { class: "mark c0", cx: x(mid), cy: 16, r: 5 }),
				svg("text", { x: x(1), y: 42, "text-anchor": x(1) < 50 ? "start" : x(1) > width - 50 ? "end" : "middle" },
					"as default")]];
		});
		return el("div", { class: "tile wide" }, el("h2", {}, "Network, default and tuned"),
			el("div", { class: "big" }, ms(n.default_network_ms), " \u2192 ", ms(n.network_ms), el("small", {}, " ms")),
			el("p", { class: sure ? "good" : slower ? "bad" : null }, word), figure);
	}
	function tiles() {
		const failed = end ? end.failed : sum(all.map(t => t.failed)), count = end ? end.trials : sum(all.map(t => t.count));
		const done = running.filter(t => t.final && t.final.certificate !== "open").length;
		const last = events.length > 0 ? events[events.length - 1].at_s : 0;
		const tile = (name, value, unit, text) => el("div", { class: "tile" }, el("h2", {}, name),
			el("div", { class: "big" }, value, unit ? el("small", {}, " " + unit) : null), el("p", {}, text));
		return el("section", { class: "bare", id: "summary", "aria-label": "Summary" }, el("div", { class: "tiles" }, gainTile(),
			end && known(end.tasks_ms) ? tile("Sum of the Tasks", ms(end.tasks_ms), "ms",
				known(end.default_tasks_ms) ? "default " + ms(end.default_tasks_ms) + " ms" : "default not measured")
				: null,
			tile("Trials", group(count), "", plural(failed, "failure") + (end && ofRun
				? `, ${group(end.reused)} reused, ${group(end.pruned)} pruned` : "")),
			ofRun ? tile("Time", fixed(last, 1), "s", end && known(end.candidates_per_s)
				? fixed(end.candidates_per_s, 1) + " candidates/s" + (end.interrupted ? ", interrupted" : "") : "") : null,
			ofRun ? tile("Certificate", `${done} of ${running.length}`, "Tasks",
				done === running.length ? "The search of each Task is over." : "Their search is over; more tuning is for the others.") : null));
	}

	/* ---- Tasks ---- */

	const badge = t => {
		const c = t.final ? t.final.certificate : "";
		return c === "" ? none : el("span", { class: c === "open" ? "badge" : "badge done" }, c);
	};
	const share = t => el("span", {}, percent(total > 0 ? t.cost / total : 0, 1),
		el("span", { class: "meter", "aria-hidden": "true" }, el("i", { style: `width:${(100 * t.cost / (total || 1)).toFixed(1)}%` })));
	function taskColumns(withShare) {
		return [
			{ name: "Task", text: true, value: t => t.id, show: t => el("code", { title: t.id }, short(t)) },
			{ name: "Operator", text: true, op: true, value: t => t.op },
			ofRun ? { name: "\u00d7", title: "how often the network runs it", value: t => t.weight } : null,
			withShare ? { name: "Share", title: "of the sum of the Tasks", value: t => t.cost, show: share } : null,
			{ name: "Best, ms", value: t => t.best, show: t => ms(t.best) },
			withDefault ? { name: "Default, ms", value: t => t.plain, show: t => ms(t.plain) } : null,
			withDefault ? { name: "Gain", title: "default over best", value: t => t.gain, show: t => times(t.gain) } : null,
			{ name: "GFLOP/s", value: t => t.rate, show: t => fixed(t.rate, 0) },
			{ name: "Of roof", title: "the roof's time over the best one's; another algorithm may exceed 100 %",
				value: t => t.near, show: t => t.near === null ? none : [percent(t.near), t.final && t.final.algorithm ? " " + t.final.algorithm : ""] },
			{ name: "Trials", value: t => t.count, show: t => group(t.count) },
			ofRun ? { name: "Space", title: "configs", value: t => t.space, show: t => big(t.space || 0) } : null,
			ofRun ? { name: "Certificate", text: true, value: t => t.final ? t.final.certificate : "", show: badge } : null,
			ofRun ? { name: "Left", title: "what is left to save at most, of the best time: down to the roof, or what the search believes",
				value: t => t.final && t.final.left >= 0 ? t.final.left : null, show: t => t.final && t.final.left >= 0 ? percent(t.final.left, 1) : none } : null,
		].filter(c => c !== null);
	}
	function taskSection() {
		const others = all.filter(t => t.weight === 0);
		return el("section", { id: "tasks" }, el("h2", {}, "Tasks"),
			el("p", { class: "soft" }, "A Task is an operator with what is fused to it; equal ones are one. ", network && known(network.network_ms)
				? "Times of best and default are from inside the network." : "Times are of one call."),
			table(ofRun ? "Tasks that the network runs" : "Tasks with runs in the session", taskColumns(true), running,
				ofRun ? 3 : 2),
			others.length === 0 ? null : behind(plural(others.length, "Task") + " of alternatives that the network does not run",
				() => table("Tasks of alternatives", taskColumns(false), others)));
	}

	/* ---- roofline ---- */

	function roofline() {
		const list = byCost.filter(t => known(t.best) && t.flops > 0 && t.bytes > 0), peak = session.peak_gflops;
		if (list.length === 0 || !known(peak))
			return null;
		const rate = (t, v) => t.flops / v / 1e6, at = t => t.flops / t.bytes;
		const slope = known(session.read_gbps) ? session.read_gbps : null, knee = slope ? peak / slope : Math.min(...list.map(at));
		const xs = [...list.map(at), knee], ys = [...list.map(t => t.rate), ...list.filter(t => known(t.plain)).map(t => rate(t, t.plain)), peak];
		const draw = width => {
			const box = { left: 52, right: width - 12, top: 26, bottom: Math.min(400, Math.max(260, width * .5)) };
			const x = logScale(Math.min(...xs) / 1.6, Math.max(...xs) * 1.8, box.left, box.right);
			const y = logScale(Math.min(...ys) / 1.7, Math.max(...ys) * 1.5, box.bottom, box.top);
			const out = axes(x, y, box, ["FLOP per byte", "GFLOP/s"]), low = 10 ** (log(Math.min(...xs) / 1.6));
			out.push(svg("polyline", { class: "roof", "clip-path": "url(#rooflineClip)", points: [[low, slope ? low * slope : peak], [knee, peak],
				[Math.max(...xs) * 1.8, peak]].map(p => x(p[0]).toFixed(1) + "," + y(p[1]).toFixed(1)).join(" ") }),
				svg("clipPath", { id: "rooflineClip" }, svg("rect", { x: box.left, y: box.top - 4, width: box.right - box.left, height: box.bottom - box.top + 4 })),
				svg("text", { x: x(knee) + 6, y: y(peak) - 8 }, `peak ${plain(peak)} GFLOP/s`),
				slope ? svg("text", { x: x(Math.sqrt(low * knee)) + 12, y: y(Math.sqrt(low * knee) * slope) + 16 }, `${plain(slope)} GB/s`) : "");
			/* What labels must not cover: [left, middle, width]. */
			const taken = [[x(knee), y(peak) - 12, 150], ...list.map(t => [x(at(t)) - 5, y(t.rate), 10])];
			for (const t of [...list].reverse()) {
				const cx = x(at(t)), cy = y(t.rate), r = 4 + 16 * Math.sqrt(t.cost / (total || 1));
				if (known(t.plain) && Math.abs(y(rate(t, t.plain)) - cy) > 1)
					out.push(svg("line", { class: "thin", x1: cx, x2: cx, y1: y(rate(t, t.plain)), y2: cy }),
						svg("circle", { class: "open c0", cx, cy: y(rate(t, t.plain)), r: 3 }));
				out.push(svg("circle", { class: "mark c0", "fill-opacity": .75, cx, cy, r }, svg("title", {}, `${short(t)} ${t.op}: ` +
					`${plain(t.rate)} GFLOP/s at ${plain(at(t))} FLOP per byte, ${ms(t.best)} ms`)));
			}
			for (const t of list.slice(0, 8)) {
				const label = t.op.length > 28 ? t.op.slice(0, 27) + "\u2026" : t.op, wide = label.length * 6.8;
				const cx = x(at(t)), cy = y(t.rate), r = 8 + 16 * Math.sqrt(t.cost / (total || 1));
				const free = from => from > box.left && from + wide < box.right && Math.abs(cy - y(peak)) > 9 &&
					!taken.some(p => Math.abs(p[1] - cy) < 14 && p[0] < from + wide && from < p[0] + p[2]);
				const from = [cx + r, cx - r - wide].find(free);
				if (from === undefined)
					continue;
				taken.push([from, cy, wide]);
				out.push(svg("text", { class: "label", x: from < cx ? cx - r : cx + r, y: cy + 4, "text-anchor": from < cx ? "end" : "start" }, label));
			}
			return [box.bottom + 38, out];
		};
		return el("section", { id: "roofline" }, el("h2", {}, "Roofline"),
			el("p", { class: "soft" }, "What each Task reaches beside what the machine gives. The area of a disc is its share of the time, ",
				"the small ring its default schedule. Discs above the roof use an algorithm with fewer multiplications, such as Winograd."),
			chart("Roofline of the Tasks", `${list.length} Tasks below a peak of ${plain(peak)} GFLOP/s${slope ? ` and a slope of ${plain(slope)} GB/s` : ""}`, draw, slope ? null :
				"Records do not tell at what rate the machine reads, so the roof has no slope."),
			behind("The numbers", () => table("Roofline", [
				{ name: "Task", text: true, value: t => t.id, show: t => el("code", {}, short(t)) },
				{ name: "Operator", text: true, op: true, value: t => t.op },
				{ name: "MFLOP", value: t => t.flops, show: t => plain(t.flops / 1e6) },
				{ name: "MB", value: t => t.bytes, show: t => plain(t.bytes / 1e6) },
				{ name: "FLOP/byte", value: at, show: t => plain(at(t)) },
				{ name: "GFLOP/s", value: t => t.rate, show: t => plain(t.rate) },
				{ name: "Roof, ms", value: t => t.roof, show: t => ms(t.roof) },
				{ name: "Best, ms", value: t => t.best, show: t => ms(t.best) }], list)));
	}

	/* ---- best so far ---- */

	function networkCurve() {
		if (sumLine.length < 2)
			return null;
		const from = sumLine[0][0], to = sumLine[sumLine.length - 1][0], lo = Math.min(...sumLine.map(p => p[1])), hi = sumLine[0][1];
		return el("div", {}, el("h3", {}, "Sum of the Tasks"), chart("Sum of the Tasks while the search goes on",
			`from ${ms(hi)} ms to ${ms(lo)} ms`, width => {
				const box = { left: 52, right: width - 8, top: 24, bottom: 190 };
				const x = linScale(from, Math.max(to, from + 1), box.left, box.right), y = linScale(lo - (hi - lo) * .1, hi + (hi - lo) * .05, box.bottom, box.top);
				let path = `M${x(from)} ${y(hi)}`;
				for (const p of sumLine)
					path += `H${x(p[0]).toFixed(1)}V${y(p[1]).toFixed(1)}`;
				return [226, [axes(x, y, box, ["seconds", "ms"]), svg("path", { class: "step", d: path })]];
			}));
	}
	function taskCurve(t) {
		const fast = Math.min(...t.good.map(x => x.us), t.before ? t.before * 1e3 : Infinity);
		const slow = Math.max(...t.good.map(x => x.us)), top = Math.min(slow, fast * 8) * 1.06;
		const draw = width => {
			const box = { left: 50, right: width - 8, top: 26, bottom: 170 };
			const x = linScale(1, Math.max(2, t.trials.length), box.left + 6, box.right - 4), y = logScale(fast / 1.06, Math.max(top, fast * 1.1), box.bottom - 4, box.top);
			x.ticks = x.ticks.filter(v => v === Math.round(v));
			const out = axes(x, y, box, ["trial", fast >= 1e3 ? "ms" : "\u00b5s"], plain, v => Number((fast >= 1e3 ? v / 1e3 : v).toPrecision(3)).toString());
			let best = t.before ? t.before * 1e3 : Infinity, path = "";
			const better = new Set();
			for (const p of t.trials) {
				if (p.status === "ok" && p.us > 0 && p.us < best) {
					path += (path === "" ? "M" : "H") + x(p.n).toFixed(1) + (path === "" ? " " : "V") + y(p.us).toFixed(1);
					best = p.us;
					better.add(p);
				}
			}
			const size = t.trials.length > 150 ? 2.3 : 3.2;
			for (const p of thin(t.trials, 800, p => better.has(p))) {
				if (p.status !== "ok")
					out.push(svg("path", { class: "open cbad", d: `M${x(p.n) - 3} ${box.top - 3}l6 6m0 -6l-6 6` }, svg("title", {}, `trial ${p.n}: ${p.status} ${p.detail}`)));
				else
					out.push(mark(p.source, x(p.n), Math.max(box.top, y(p.us)), size, `trial ${p.n}: ${time(p.us)}${p.source ? ", " + p.source : ""}`));
			}
			if (path !== "")
				out.push(svg("path", { class: "step", d: path + "H" + box.right }));
			return [206, out];
		};
		const text = `${plural(t.trials.length, "trial")}, best ${Number(fast.toPrecision(4))} \u00b5s alone`;
		return el("div", {}, el("h3", {}, t.op), el("p", { class: "note" }, el("code", {}, short(t)), ` ${text}`),
			chart("Trials of " + t.op, text, draw),
			behind("The trials", () => table("Trials of " + t.op, [
				{ name: "Trial", value: p => p.n }, { name: "Source", text: true, value: p => p.source || none },
				{ name: "Time", value: p => p.us, show: p => p.status === "ok" ? time(p.us) : none },
				{ name: "Spread", value: p => p.spread, show: p => p.status === "ok" ? time(p.spread) : none },
				{ name: "Believed", value: p => p.believed, show: p => p.believed > 0 ? time(p.believed) : none },
				{ name: "Outcome", text: true, value: p => p.status }, { name: "Record", text: true, value: p => p.record, show: p => el("code", {}, p.record) }],
			t.trials)));
	}
	function curves() {
		const list = [...byCost, ...all.filter(t => t.weight === 0)].filter(t => t.good.length > 1), step = 6;
		if (list.length === 0)
			return null;
		const grid = el("div", { class: "grid" });
		let shown = 0;
		const more = el("button", { type: "button", class: "more" });
		const show = () => {
			list.slice(shown, shown + step * (shown > 0 ? 4 : 1)).forEach(t => grid.append(taskCurve(t)));
			shown = grid.childElementCount;
			more.textContent = `Show more Tasks (${list.length - shown} left)`;
			more.hidden = shown >= list.length;
			if (grid.isConnected)
				watch();
		};
		more.addEventListener("click", show);
		show();
		return el("section", { id: "curves" }, el("h2", {}, "Best so far"),
			el("p", { class: "soft" }, "Each mark is a trial, timed alone; the line is the best time until then. Times far above the best stand at the upper edge, ",
				"crosses are failures.", ofRun ? "" : " Records do not say why a schedule was chosen, nor when."),
			networkCurve(), legend(), grid, more);
	}
	function sourceTable() {
		if (!ofRun || sources.length === 0)
			return null;
		const rows = sources.map(s => ({ s, n: 0, failed: 0, better: 0, won: 0, gain: 0 })), row = s => rows.find(r => r.s === s);
		for (const t of all) {
			let best = t.before ? t.before * 1e3 : null, winner = null;
			for (const p of t.trials) {
				const r = row(p.source);
				if (!r)
					continue;
				r.n++;
				r.failed += p.status !== "ok";
				if (p.status === "ok" && (best === null || p.us < best)) {
					r.better++;
					r.gain += best === null ? 0 : (best - p.us) / 1e3 * t.weight;
					best = p.us;
					winner = r;
				}
			}
			if (winner)
				winner.won++;
		}
		return el("section", { id: "sources" }, el("h2", {}, "What found the best"), legend(),
			table("Trials by the source of their proposal", [
				{ name: "Source", text: true, value: r => r.s }, { name: "Trials", value: r => r.n, show: r => group(r.n) },
				{ name: "Failed", value: r => r.failed, show: r => group(r.failed) },
				{ name: "New best", title: "trials that were faster than all before", value: r => r.better, show: r => group(r.better) },
				{ name: "Best of a Task", title: "Tasks whose best trial it was", value: r => r.won, show: r => group(r.won) },
				{ name: "Saved, ms", title: "of the sum of the Tasks", value: r => r.gain, show: r => ms(r.gain) }], rows, 5));
	}

	/* ---- failures ---- */

	function failures() {
		const count = new Map(), bad = [...trials, ...all.flatMap(t => t.staged)].filter(x => x.status !== "ok");
		for (const x of bad) {
			const c = count.get(x.status) || { status: x.status, n: 0, detail: x.detail };
			c.n++;
			count.set(x.status, c);
		}
		const n = trials.length + sum(Object.values(otherStages)), list = [...count.values()].sort((a, b) => b.n - a.n);
		return el("section", { id: "failures" }, el("h2", {}, "Failures"), list.length === 0
			? el("p", {}, `None of ${plural(n, "run")} failed.`)
			: [el("p", {}, `${group(bad.length)} of ${plural(n, "run")} failed (${percent(bad.length / n, 1)}).`),
				table("Failures by kind", [{ name: "Kind", text: true, value: c => c.status }, { name: "Runs", value: c => c.n, show: c => group(c.n) },
					{ name: "Of all", value: c => c.n, show: c => percent(c.n / n, 1) }, { name: "The first says", text: true, op: true, value: c => c.detail || none }], list, 1)]);
	}

	/* ---- what the model believed ---- */

	function belief() {
		const points = all.flatMap(t => t.good.filter(p => p.believed > 0).map(p => ({ t, p })));
		if (points.length < 4)
			return ofRun ? null : el("section", { id: "belief" }, el("h2", {}, "What the cost model believed"), el("p", {}, "Records do not say it."));
		const ranked = all.filter(t => t.ranks !== null), mean = ranked.length > 0 ? sum(ranked.map(t => t.ranks)) / ranked.length : null;
		const ratios = points.map(x => x.p.believed / x.p.us).sort((a, b) => a - b), mid = ratios[ratios.length >> 1];
		const values = points.flatMap(x => [x.p.us, x.p.believed]), lo = Math.min(...values) / 1.3, hi = Math.max(...values) * 1.3;
		const said = `Rank correlation inside a Task, the mean over ${plural(ranked.length, "Task")}: ${mean === null ? none : mean.toFixed(2)}. The middle estimate is ${mid.toFixed(2)} times the measured time.`;
		const draw = width => {
			const box = { left: 52, right: width - 10, top: 26, bottom: Math.min(420, Math.max(230, width * .8)) };
			const x = logScale(lo, hi, box.left, box.right), y = logScale(lo, hi, box.bottom, box.top), say = v => v >= 1e3 ? plain(v / 1e3) + "m" : plain(v) + "\u00b5";
			const out = axes(x, y, box, ["measured, s", "believed, s"], say, say);
			out.push(svg("line", { class: "thin", x1: x(lo), y1: y(lo), x2: x(hi), y2: y(hi) }));
			for (const { t, p } of thin(points, 3000))
				out.push(mark(p.source, x(p.us), y(p.believed), 3, `${t.op}, trial ${p.n}: believed ${time(p.believed)}, measured ${time(p.us)}`));
			return [box.bottom + 38, out];
		};
		return el("section", { id: "belief" }, el("h2", {}, "What the cost model believed"),
			el("p", {}, "Estimates of the cost model ", el("code", {}, session.cost_model), " beside the measured times. ", said), el("div", { class: "two" },
				el("div", {}, chart("Believed and measured times", said, draw, "On the line the two agree. Only the order inside a Task decides what is tried."), legend()),
				table("Rank correlation by Task", [{ name: "Task", text: true, value: t => t.id, show: t => el("code", {}, short(t)) },
					{ name: "Operator", text: true, op: true, value: t => t.op }, { name: "Trials", value: t => t.good.length },
					{ name: "Correlation", value: t => t.ranks, show: t => t.ranks.toFixed(2) }], ranked, 2)));
	}

	/* ---- what more would buy ---- */

	function more() {
		if (!ofRun)
			return null;
		const list = byCost.filter(t => t.final).map(t => {
			const half = t.good.filter(p => p.n <= t.trials.length / 2).map(p => p.us), best = list => list.length > 0 ? Math.min(...list) : null;
			const then = best([...half, ...(t.before ? [t.before * 1e3] : [])]), now = best(t.good.map(p => p.us));
			return { t, late: then !== null && now !== null ? Math.max(0, then - now) / 1e3 * t.weight : null,
				expected: t.final.expected_ms || 0, most: t.final.could_save_ms };
		});
		if (list.length === 0)
			return null;
		const open = list.filter(x => x.t.final.certificate === "open"), hope = sum(open.map(x => x.expected));
		const base = network && known(network.network_ms) ? network.network_ms : total;
		const picture = open.filter(x => x.most > 0).sort((a, b) => b.expected - a.expected).slice(0, 10);
		const draw = width => {
			const name = Math.min(210, width * .42), x = linScale(0, Math.max(...picture.map(p => p.most), 1e-9), name, width - 56), out = [];
			picture.forEach((p, k) => {
				const y = 6 + k * 26;
				out.push(svg("text", { class: "label", x: 0, y: y + 13 }, p.t.op.length > name / 7 ? p.t.op.slice(0, name / 7 - 1) + "\u2026" : p.t.op),
					svg("rect", { class: "bar pale", x: name, y, width: Math.max(1, x(p.most) - name), height: 18, rx: 3 }),
					svg("rect", { class: "bar", x: name, y, width: Math.max(1, x(p.expected) - name), height: 18, rx: 3 }),
					svg("text", { x: x(p.most) + 6, y: y + 13 }, ms(p.expected)));
			});
			return [picture.length * 26 + 8, out];
		};
		return el("section", { id: "more" }, el("h2", {}, "What more tuning would buy"), open.length === 0
			? el("p", {}, "Every search is at its end: the tuner expects nothing of more trials.")
			: el("p", {}, `${plural(open.length, "Task is", "Tasks are")} still open. The tuner expects that 100 more trials of each save up to ${ms(hope)} ms (${percent(hope / base, 1)} of the network). `,
				"It takes the distance to the roof for what can be saved, so this is an upper estimate; what the second half of the trials has saved is beside it."),
		picture.length === 0 ? null : chart("Expected gain by Task", "dark: what 100 more trials may save, in ms; pale: the distance to the roof", draw,
			"Milliseconds of the network. Dark: what 100 more trials may save. Pale: the distance to the roof."),
		behind("The numbers", () => table("What more tuning would buy", [
			{ name: "Task", text: true, value: x => x.t.id, show: x => el("code", {}, short(x.t)) }, { name: "Operator", text: true, op: true, value: x => x.t.op },
			{ name: "Certificate", text: true, value: x => x.t.final.certificate, show: x => badge(x.t) },
			{ name: "100 trials, ms", value: x => x.expected, show: x => x.expected > 0 ? ms(x.expected) : "0" },
			{ name: "To the roof, ms", value: x => x.most, show: x => ms(x.most) },
			{ name: "Saved lately, ms", title: "by the second half of its trials", value: x => x.late, show: x => x.late > 0 ? ms(x.late) : x.late === 0 ? "0" : none }], list, 3)));
	}

	/* ---- the page ---- */

	const date = session.started_s > 0 ? new Date(session.started_s * 1000).toISOString().slice(0, 16).replace("T", " ") + " UTC" : "";
	const name = (session.model || "").split("/").pop() || "network";
	function about() {
		const row = (k, v) => v === "" || v === undefined || v === null ? [] : [el("dt", {}, k), el("dd", {}, v)];
		return el("section", { id: "about" }, el("h2", {}, "About this run"), el("dl", {}, row("Session", el("code", {}, session.session || none)),
			row("Written by", session.tool), row("Model", session.model), row("Target", session.target), row("Machine", session.machine),
			row("Peak", known(session.peak_gflops) ? plain(session.peak_gflops) + " GFLOP/s, by the probe" : ""),
			row("Reading", known(session.read_gbps) ? plain(session.read_gbps) + " GB/s from the last cache, by the probe" : ""),
			row("Search", [session.search, session.preset, session.cost_model].filter(x => x).join(", ")), row("Seed", String(session.seed ?? "")),
			row("Began", date)), ofRun ? null : el("p", { class: "note" }, "Made from records. They tell neither the time of the network nor how often it runs a Task, ",
			"neither why a schedule was proposed nor what the cost model believed of it, and no certificates: nothing is shown of these. ",
			"The default schedules are those of the version of dlc that made this page, where the session has measured them."));
	}
	/* Draws what is new in the page, now and whenever its place has another width. */
	function watch() {
		for (const [place, paint] of charts.splice(0)) {
			paint();
			new ResizeObserver(paint).observe(place);
		}
	}

	document.title = `${name} on ${session.target || "?"}: dlc report`;
	fill(document.getElementById("head"), {}, [el("p", { class: "kicker" }, ofRun ? "Tuning report" : "Report of a session's records"),
		el("h1", {}, name), el("p", { class: "soft" }, [session.target, session.machine, date].filter(x => x).join(" \u00b7 ")),
		session.command ? el("code", { class: "command" }, session.command) : null]);
	const sections = [tiles(), taskSection(), roofline(), curves(), sourceTable(), failures(), belief(), more(), about()].filter(s => s !== null);
	document.getElementById("content").replaceChildren(...sections);
	document.getElementById("contents").append(el("ul", {}, sections.filter(s => s.querySelector("h2") && s.id !== "summary")
		.map(s => el("li", {}, el("a", { href: "#" + s.id }, s.querySelector("h2").textContent)))));
	document.getElementById("foot").append(el("p", {}, "One file; it loads nothing. docs/report.md of dlc says what its numbers mean."));
	watch();
})();
