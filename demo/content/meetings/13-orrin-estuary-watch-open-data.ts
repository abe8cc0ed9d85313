import { timed } from "../timeline.ts";
import type { DemoMeeting } from "../types.ts";

export const meeting: DemoMeeting = {
  title: "Open call with Orrin Estuary Watch: a public water page",
  daysAgo: 4,
  startsAt: "18:00",
  meetingType: "Partner Meeting",
  recorders: ["samir.haddadine@wrackline.example"],
  participants: [
    { key: "samir", name: "Samir Haddadine", email: "samir.haddadine@wrackline.example" },
    { key: "gwen", name: "Gwen Pritchard-Owusu", email: "gwen.pritchard-owusu@wrackline.example" },
    { key: "bettany", name: "Bettany Crosskell", email: "bettany@orrin-estuary-watch.example" },
    { key: "mateus", name: "Mateus Figueirôa", email: "mateus@orrin-estuary-watch.example" },
    { key: "winifred", name: "Winifred Achebe-Holt", email: "w.achebe-holt@orrin-rowing.example" },
  ],
  team: "Customers",
  sharedWithTeams: ["Platform"],
  shareState: "public",
  tags: ["open-data", "estuary", "community", "café-science"],
  language: "en",
  media: "video",
  slides: [
    {
      from: "I've brought a sketch. A page without",
      until: "So my second sketch is a traffic light.",
      by: "samir",
      title: "Old bridge: salinity after the rain",
      chart: {
        kind: "line",
        unit: "",
        max: 32,
        labels: ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
        values: [27, 28, 26, 27, 26, 25, 18, 11, 12, 15, 18, 21, 23, 25],
        mark: { at: 7, text: "11 on Thursday" },
      },
    },
    {
      from: "That's true. But there's a connection.",
      until: "So the bridge needs its own rule",
      by: "samir",
      title: "101 bottles beside our readings",
      chart: {
        kind: "bars",
        unit: "",
        bars: [
          { label: "signs, and bad", value: 17 },
          { label: "signs, but fine", value: 3 },
          { label: "no signs, but bad", value: 4, highlighted: true },
        ],
      },
    },
    {
      from: "Then I'll list what I've got.",
      until: "And I'll phone the coach",
      by: "samir",
      title: "The page, second sketch",
      chart: {
        kind: "list",
        items: [
          { text: "Three words and three shapes" },
          { text: "Grey at the old bridge: we don't know" },
          { text: "Worse at once, better after 48 hours" },
          { text: "The four bad samples, one tap below" },
          { text: "All the data, bad days too", isDone: true },
        ],
      },
    },
  ],
  highlights: [
    {
      from: "What it is. 'Signs of sewage: none seen'",
      lines: 2,
      text: "Never say safe",
      tags: ["open-data", "design"],
      by: "samir.haddadine@wrackline.example",
    },
    {
      from: "Now one more practical thing. Red and green",
      lines: 2,
      text: "Shapes, not colours",
      tags: ["design", "accessibility"],
      by: "samir.haddadine@wrackline.example",
    },
  ],
  summary: [
    {
      text: "The public page shows signs of sewage in three **words** (none seen, some, strong), without a traffic light.",
      quote: "'Signs of sewage: none seen', or 'some', or 'strong'",
    },
    {
      text: "Three **shapes** go with the words, since colours alone shut people out.",
      quote: "Three words and three shapes in place of the lights",
    },
    { text: "The old bridge gets no verdict.", quote: "Grey at the old bridge" },
    {
      text: "It gets worse at once and better only after 48 hours, or after a clean bottle.",
      quote: "Worse at once, better after forty-eight hours or a clean bottle",
    },
    {
      text: "Anyone may use the data, with the name of Orrin Estuary Watch.",
      quote: "Anyone may use it, with the name of Orrin Estuary Watch",
    },
  ],
  actionItems: [
    {
      line: "A first version in six days",
      text: "Make a first version of the page in six days",
      assignee: "samir",
    },
    {
      line: "I'll send you all my bottles",
      text: "Send all bottles as a table, with dates",
      assignee: "mateus",
    },
    {
      line: "Third period, nine days from now.",
      text: "Show the page to the class, with biscuits",
      assignee: "bettany",
    },
  ],
  segments: timed({ minutes: 9 }, [
    [
      "bettany",
      "Good evening, and welcome to the fourth open call of Orrin Estuary Watch. For those who'll listen later: this is recorded and goes on our site, so please no medical histories. I'm Bettany, I teach chemistry at the school, and I look after the three buoys.",
    ],
    [
      "mateus",
      "I'm Mateus. I do the bottles. Each week I take nine water samples, and a lab counts the bacteria. I'm the reason why the fridge at the community café has a sign on it.",
    ],
    [
      "winifred",
      "Winifred, from the rowing club. Ninety members, forty of them under sixteen. I've one question, and I've had it for two years: can they go in the water today or not?",
    ],
    [
      "samir",
      "And I'm Samir, from Wrackline, we lent the three buoys. I draw the charts. Gwen is with me, she decides what I draw.",
    ],
    [
      "gwen",
      "I decide very little. The three are first generation, retired from a harbour, so please forgive the scratches.",
    ],
    [
      "bettany",
      "We love the scratches. Tonight there's one topic: the public page. The buoys have been in for five months, we've got twenty-two thousand readings, and only I can see them. The trust that gave us the mooring money wants it to be public by the end of the month.",
    ],
    [
      "samir",
      "I've brought a sketch. A page without a login. A map with three dots, for each dot four numbers and a chart for the last seven days. And below, a button to download everything as a table, under an open license.",
    ],
    ["bettany", "Everything, from the first day?"],
    [
      "samir",
      "From the first day, also the bad days. If a sensor was dirty, it's marked, not taken out. We've learned lately that a hole should look like a hole.",
    ],
    ["mateus", "I read about that. The outage, with the salmon."],
    ["samir", "Then you know why I've become a bit religious about it."],
    [
      "winifred",
      "It's a lovely map. But I still don't see my answer. Turbidity forty, salinity eleven. What does it say to a mother on the slipway, at half past eight on a Saturday?",
    ],
    [
      "samir",
      "So my second sketch is a traffic light. Green, yellow, red, for each of the three places. Big, at the top.",
    ],
    [
      "mateus",
      "And there I've a problem, and I'd like to say it as a friend. None of your buoys measures bacteria. What makes people ill is bacteria. A green light from a thing that can't see the danger is worse than no light.",
    ],
    [
      "samir",
      "That's true. But there's a connection. After heavy rain, the sewers overflow, the salinity falls, the turbidity climbs. I laid your bottles and our buoys over one another, for five months. When turbidity's over thirty and salinity under fourteen, your bottles were bad in seventeen cases out of twenty.",
    ],
    ["mateus", "And how many times were the bottles bad, when your light would've been green?"],
    ["samir", "Four. Out of a hundred and one."],
    ["mateus", "Those four are Winifred's under-sixteens."],
    [
      "winifred",
      "Let him finish, Mateus. At present I go by the look of it, and by whether there's toilet paper in the reeds. Four in a hundred sounds like progress to me.",
    ],
    ["bettany", "What were those four, do we know? Was it the same spot?"],
    [
      "samir",
      "Three of the four were at the old bridge. There it never gets salty anyway, because the stream comes in, so the rule's blind.",
    ],
    [
      "bettany",
      "The stream comes down past the dairy farm. That's not sewers, that's cows. It'd be bad after small rain, when nothing overflows.",
    ],
    [
      "mateus",
      "So the bridge needs its own rule, or else no light. I'd say no light. Grey. 'We don't know.'",
    ],
    [
      "samir",
      "I've got a grey. I've a very good grey, it's been on our status page for three weeks. It says 'we do not know', and people have thanked us for it.",
    ],
    [
      "gwen",
      "May I come in with the thing nobody likes? The word. If there's a green light with our name on it, and a child gets ill, then somebody asks who told them it's safe. I'm not hiding behind lawyers, I'd just never let it say 'safe'.",
    ],
    ["winifred", "What would you say instead?"],
    [
      "gwen",
      "What it is. 'Signs of sewage: none seen', or 'some', or 'strong'. And with the time of the last bottle next to it. Then you've got both, the quick one that guesses and the slow one that knows.",
    ],
    [
      "mateus",
      "That I can live with. 'Signs' is honest. I'd want the number of the four on the page, too. 'In the past, no signs were seen, and the water was bad nevertheless, in four of a hundred and one samples.'",
    ],
    ["winifred", "Nobody on a slipway reads that sentence."],
    ["mateus", "The mother might. I would."],
    [
      "bettany",
      "Make it two levels. At the top, the three words, big. One tap below, the sentence, with the table. I've twenty-eight teenagers who can tell you if they understand it, they're merciless.",
    ],
    [
      "samir",
      "I'd love that. Could I come and watch them? Not to explain anything, only to sit at the back and suffer.",
    ],
    ["bettany", "Third period, nine days from now. Bring biscuits. They'll say it's ugly, whatever it is."],
    [
      "winifred",
      "Now one more practical thing. Red and green: our coach can't tell them apart, and one in twelve boys can't either. I'd lose seven of my people with your traffic light.",
    ],
    [
      "samir",
      "That one hurts, because I know it, and I still drew it like that. Shapes, then. A circle, a triangle, a square with a cross. And the words, always. The colour is only the icing.",
    ],
    ["gwen", "For the record, he redrew the alarm icons for the very same reason last year."],
    ["samir", "I did. I'm a slow learner with a good memory."],
    [
      "bettany",
      "Next: how often does it change? If it flips from 'none' to 'strong' every ten minutes, people stop looking.",
    ],
    [
      "samir",
      "I'd do it once an hour, and only if four out of six readings agree. When it gets worse, at once. When it gets better, not before three hours have gone by.",
    ],
    [
      "mateus",
      "After an overflow, I find bacteria for about two days. Three hours is much too soon. The salt comes back with the next tide, and the bugs are still there, in the mud.",
    ],
    ["samir", "Two days, really?"],
    [
      "mateus",
      "Between thirty and fifty hours, in my bottles. I can show you. It depends on the sun, it kills them.",
    ],
    [
      "samir",
      "Then it's: after 'strong', stay at 'some' for forty-eight hours, whatever the buoy says, unless one of your bottles is clean. So your bottle can release it.",
    ],
    ["mateus", "So I'm the only one who can switch on the good news. I like this much more than my fridge."],
    [
      "winifred",
      "Forty-eight hours is a lot of cancelled Saturdays. It rains here on Thursdays, as if it was paid for it.",
    ],
    [
      "bettany",
      "Could we take an additional bottle on Fridays, then? Whoever wants to row on Saturday has an interest in it. The club might pay for the test, it's eighteen pounds.",
    ],
    [
      "winifred",
      "Eighteen pounds against forty disappointed children. Done. I'll even carry it to the lab, it's on my way.",
    ],
    [
      "mateus",
      "By ten in the morning, cold, and not in a lunch box. I'll teach you. It takes half an hour, and you'll never look at a river in the same way.",
    ],
    [
      "gwen",
      "I've one question about the data. Under which license, and whose name? It's your mooring, your work, and our buoys.",
    ],
    [
      "bettany",
      "We talked about that in the committee. Anyone may use it, with the name of Orrin Estuary Watch. Your name can be small, at the bottom, with the scratches.",
    ],
    [
      "gwen",
      "Small with scratches is perfect. And we keep the page running for three years at least, whatever becomes of the loan. I've got that in writing from Marit, and I'll send it to you tomorrow.",
    ],
    ["bettany", "That's more than the trust asked for. Thank you."],
    [
      "samir",
      "Then I'll list what I've got. Three words and three shapes in place of the lights. Grey at the old bridge. Worse at once, better after forty-eight hours or a clean bottle. The sentence about the four, one tap below. And the table for everyone, with the bad days in it.",
    ],
    ["bettany", "When could we see it?"],
    [
      "samir",
      "A first version in six days, I'm on call next week, so I'm awake anyhow. Then your class. Then it's public by the end of the month.",
    ],
    [
      "mateus",
      "I'll send you all my bottles as a table. With the dates, and which ones I don't trust. There are three, it was my birthday.",
    ],
    ["winifred", "And I'll phone the coach, and tell him that somebody's thought of him."],
    [
      "bettany",
      "Lovely. The next open call's in a month, in the café, with the fridge. If you're listening at home: come along, bring a bottle, an empty one. Good night, everybody.",
    ],
    ["gwen", "Good night, and thank you for arguing. It's a better page than the one that we came with."],
  ]),
};
