"use strict";
(function (nsh) {
  const texts = { title: "Orders", empty: "No orders yet.", open: "open", shipped: "shipped", total: "Total" };
  async function openOrders(url) {
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(`orders: ${answer.status}`);
    return await answer.json();
  }
  const orders = nsh.signal([]);
  const total = () => orders().reduce((sum, order) => sum + order.cents, 0);
  function Line({ order }) {
    return nsh.create(nsh.Row, { gap: 8 },
      nsh.create(nsh.Text, { grow: true }, order.customer),
      nsh.create(nsh.Text, null, (order.cents / 100).toFixed(2)),
      nsh.create(nsh.Text, { muted: true }, order.shipped ? texts.shipped : texts.open));
  }
  function App() {
    return nsh.create(nsh.Column, { padding: 16, gap: 12 },
      nsh.create(nsh.Image, { source: "assets/images/logo.svg", width: 64, height: 64 }),
      nsh.create(nsh.Text, { heading: true }, texts.title),
      nsh.create(nsh.List, { items: orders(), empty: texts.empty }, (order) => nsh.create(Line, { order })),
      nsh.create(nsh.Text, null, texts.total, ": ", (total() / 100).toFixed(2)));
  }
  openOrders("https://api.example.com/orders").then(orders.set);
  nsh.mount(App);
})(globalThis.nsh);
//# sourceMappingURL=bundle.js.map
