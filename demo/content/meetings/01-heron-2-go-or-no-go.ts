import { timed } from "../timeline.ts";
import type { DemoMeeting } from "../types.ts";

export const meeting: DemoMeeting = {
  title: "Heron 2: go or no-go",
  daysAgo: 41,
  startsAt: "09:00",
  meetingType: "Planning",
  recorders: ["gwen.pritchard-owusu@wrackline.example"],
  participants: [
    { key: "gwen", name: "Gwen Pritchard-Owusu", email: "gwen.pritchard-owusu@wrackline.example" },
    { key: "marit", name: "Marit Aalvik", email: "marit.aalvik@wrackline.example" },
    { key: "devika", name: "Devika Raghunathan", email: "devika.raghunathan@wrackline.example" },
    { key: "piotr", name: "Piotr Wilkosz", email: "piotr.wilkosz@wrackline.example" },
    { key: "aurelie", name: "Aurélie Quémener", email: "aurelie.quemener@wrackline.example" },
    { key: "lukas", name: "Lukas Brandtner", email: "lukas.brandtner@wrackline.example" },
    { key: "hana", name: "Hana Tsukada", email: "hana.tsukada@wrackline-japan.example" },
  ],
  team: "Devices",
  sharedWithTeams: ["Customers", "Operations"],
  shareState: "restricted",
  tags: ["heron-2", "launch", "decision"],
  language: "en",
  media: "video",
  slides: [
    {
      from: "Yes. Forty pre-series units went into",
      until: "I measured the groove",
      by: "piotr",
      title: "Salt tank, day 21: 40 units opened",
      chart: {
        kind: "bars",
        unit: "",
        bars: [
          { label: "dry", value: 33 },
          { label: "water inside", value: 7, highlighted: true },
          { label: "failed", value: 0 },
          { label: "ducks", value: 1 },
        ],
      },
    },
    {
      from: "I measured the groove",
      until: "Say more about that.",
      by: "piotr",
      title: "O-ring groove: too deep by 1/100 mm",
      chart: {
        kind: "line",
        unit: "",
        max: 20,
        labels: ["unit 1", "unit 10", "unit 20", "unit 30", "unit 40"],
        values: [0, 1, 0, 2, 0, 1, 0, 12, 14, 1, 15, 17, 13, 0, 1],
        mark: { at: 11, text: "17: leaks" },
      },
    },
    {
      from: "Three weeks, one week, two weeks.",
      until: "And what does it cost us?",
      by: "gwen",
      title: "The way to a new date, days",
      chart: {
        kind: "bars",
        unit: " d",
        bars: [
          { label: "new caps", value: 21 },
          { label: "build 40", value: 5 },
          { label: "small tank", value: 14 },
          { label: "large tank", value: 14 },
          { label: "in all", value: 44, highlighted: true },
        ],
      },
    },
    {
      from: "Then let me read the decision.",
      until: "It was a quiet evening.",
      by: "gwen",
      title: "No-go. Who does what",
      chart: {
        kind: "list",
        items: [
          { text: "Date moves by five weeks, for everybody", isDone: true },
          { text: "Aurélie: 120 caps from Ploumarec in three weeks" },
          { text: "Piotr: small tank, with changing pressure" },
          { text: "Lukas and Hana: phone every customer" },
          { text: "Gwen: both quick-start guides" },
        ],
      },
    },
  ],
  highlights: [
    {
      from: "Yes. Forty pre-series units went into",
      lines: 5,
      text: "Seven of forty units leaked",
      tags: ["heron-2", "quality"],
      by: "devika.raghunathan@wrackline.example",
    },
    {
      from: "The first Heron leaked into",
      lines: 3,
      text: "Why sorted caps are off the table",
      tags: ["risk"],
      by: "marit.aalvik@wrackline.example",
    },
    {
      from: "Then let me read the decision.",
      lines: 2,
      text: "The decision: no-go, five weeks",
      tags: ["decision"],
      by: "gwen.pritchard-owusu@wrackline.example",
    },
  ],
  summary: [
    {
      text: "The question is whether Heron 2 ships in nine days.",
      quote: "do we start shipping Heron 2 in nine days, yes or no",
    },
    {
      text: "Forty pre-series units were in the salt tank for 21 days.",
      quote: "Forty pre-series units went into the salt tank twenty-one days ago",
    },
    {
      text: "Seven of them have water behind the wiper shaft.",
      quote: "I opened all of them, and seven have water behind the wiper shaft",
    },
    {
      text: "It is salt water, not condensation.",
      quote: "it's not condensation, before anybody asks, I tasted it",
    },
    {
      text: "On the wet units the groove of the O-ring is too deep.",
      quote: "On the wet ones it's between two point five two and two point five seven",
    },
    {
      text: "All seven have end caps from the second delivery; nineteen of those were in the tank.",
      quote: "All seven have caps from the second delivery",
    },
    {
      text: "Sorting the good caps from the bad ones was turned down: a leak runs toward the battery.",
      quote: "This one leaks toward the battery",
    },
    {
      heading: "Decision",
      text: "**Heron 2 does not ship in nine days.**",
      quote: "No-go for the date in nine days",
    },
    {
      heading: "Decision",
      text: "The new date is **five weeks later, for all customers and countries**.",
      quote: "New date five weeks later, for all customers, all countries",
    },
    {
      heading: "Decision",
      text: "After three weeks the small tank is checked; if anything is wet, everybody hears it the same day.",
      quote:
        "at three weeks from today we check the small tank, and if anything is wet, we say so that same day",
    },
    {
      heading: "Cost",
      text: "Just under half a million euros move into the next quarter.",
      quote: "just under half a million moving into the next quarter",
    },
    {
      heading: "Cost",
      text: "A penalty may cost about 8,500 euros.",
      quote: "That's eight and a half thousand",
    },
  ],
  actionItems: [
    {
      line: "Actions. Aurélie calls Ploumarec",
      text: "Call Ploumarec about a new insert, the measuring protocol and 120 caps in three weeks",
      assignee: "aurelie",
      isDone: true,
    },
    {
      line: "Some. The first thirty caps",
      text: "Set up a small tank with pressure cycling",
      assignee: "piotr",
      isDone: true,
    },
    {
      line: "I do, by phone, today and tomorrow.",
      text: "Phone the customers, then send the email",
      assignee: "lukas",
      isDone: true,
    },
    {
      line: "You'll have it. Lukas, who tells",
      text: "Finish the quick-start guide and send the text for the Japanese one",
      assignee: "gwen",
    },
  ],
  segments: timed({ minutes: 10.4 }, [
    [
      "gwen",
      "All right, everyone is here. There is one question on the page: do we start shipping Heron 2 in nine days, yes or no. I would like us to leave with an answer and not with a feeling.",
    ],
    ["marit", "I would also like us to leave before ten, because I have the bank at ten fifteen."],
    [
      "gwen",
      "Noted. Piotr, you sent the tank results at eleven last night, which is never a good sign. Can you take us through them?",
    ],
    [
      "piotr",
      "Yes. Forty pre-series units went into the salt tank twenty-one days ago. Yesterday I opened all of them, and seven have water behind the wiper shaft.",
    ],
    ["lukas", "Seven of forty. So that is, what, seventeen percent?"],
    ["piotr", "Seventeen and a half. And it's not condensation, before anybody asks, I tasted it."],
    ["devika", "You tasted it."],
    [
      "piotr",
      "The conductivity meter was in use. It's salt water, a few millilitres in each one. None of them has failed electrically yet, but the worst one had a droplet about four millimetres from the board connector.",
    ],
    ["marit", "And the other thirty-three are dry?"],
    [
      "piotr",
      "Bone dry. Also dry is the rubber duck that somebody put in tank three, so by my count it's the most reliable device we have in the building.",
    ],
    ["hana", "The duck was me. I needed something to show the visitors where the surface was."],
    ["devika", "We should give it a serial number. Seven leakers and the duck, call it Number Eight."],
    ["gwen", "Number Eight, noted in the minutes. Piotr, do we know why those seven?"],
    [
      "piotr",
      "I measured the groove that the O-ring sits in. On the dry units it's two point four millimetres deep, which is the drawing. On the wet ones it's between two point five two and two point five seven, so the ring isn't squeezed enough.",
    ],
    ["aurelie", "So the end caps are out of tolerance. Are the seven from the same batch?"],
    [
      "piotr",
      "All seven have caps from the second delivery. But not every cap from the second delivery is bad. I counted nineteen of those in the tank and seven of them leaked.",
    ],
    [
      "aurelie",
      "The second delivery is two hundred and sixty caps. It's the one Ploumarec made after they changed the lathe insert. I have an email from Yannick saying that the first articles were checked.",
    ],
    [
      "devika",
      "First articles, yes. An insert wears, or it's clamped a tenth off, and the first article tells you nothing about piece one hundred and eighty.",
    ],
    [
      "gwen",
      "What would it take to sort the good caps from the bad ones? Could we just measure all two hundred and sixty and ship with the ones that pass?",
    ],
    [
      "aurelie",
      "Measure, yes, it's two days for one person with the depth gauge. But if the share is the same as in the tank, we keep about a hundred and sixty, and I don't like building on a sorted lot.",
    ],
    [
      "lukas",
      "Can I argue for exactly that? I have fifty-two units promised for the first two weeks. A hundred and sixty good caps cover that three times over.",
    ],
    ["devika", "A unit has two end caps, Lukas. So a hundred and sixty caps is eighty buoys."],
    ["lukas", "Fine, once and a half over. It's still more than fifty-two."],
    [
      "piotr",
      "The trouble is that we ran twenty-one days. The drawing says two point four plus or minus five hundredths. I don't know whether a cap at two point four six leaks on day sixty. Nobody knows, because we've never had them.",
    ],
    [
      "lukas",
      "Everything leaks on some day, Piotr. The first Heron leaked on day four hundred and we replaced them under warranty, and people liked us for it.",
    ],
    [
      "devika",
      "The first Heron leaked into an empty chamber. This one leaks toward the battery. I'm not signing a thing where the failure is sea water on a lithium pack.",
    ],
    ["marit", "Say more about that. Is it a fire risk or is it a dead buoy?"],
    [
      "devika",
      "Most likely a dead buoy. The pack has a vent and a fuse, so in ninety-nine cases of a hundred it just goes quiet. But I can't tell you with a straight face that the hundredth isn't a hot pack on somebody's work boat.",
    ],
    [
      "marit",
      "Then for me the sorted lot is off the table. What remains is how long, and what we tell people.",
    ],
    [
      "lukas",
      "I want it on record that I disagree. Not about the battery, about the size of it. We could ship twenty units to harbours where we can drive over and swap them.",
    ],
    [
      "gwen",
      "It's on the record, literally, the thing is recording. Which twenty would you ship, if we let you?",
    ],
    [
      "lukas",
      "The two harbours in the Dollmar contract, and the reservoir people at Elmsrode, once they sign. They don't even have salt.",
    ],
    [
      "hana",
      "If you ship in Europe and tell Shiokaze in Japan to wait, they'll know within the week. The oyster world is tiny. I'd rather tell everyone the same date once.",
    ],
    ["lukas", "Okay. That one I can't answer. If it's one date for everybody, then it's one date."],
    ["gwen", "Good. Aurélie, how long until we have caps we believe in?"],
    [
      "aurelie",
      "If I call Yannick today, he needs a new insert, that's a week. Then he can do about forty caps a day if he puts it on the big lathe. I would ask for a hundred and twenty in three weeks, and the rest after.",
    ],
    [
      "devika",
      "And every one measured at their end, not ours. I want the protocol with a number for each cap, engraved.",
    ],
    ["aurelie", "Engraved costs extra. I'll ask. Solène in quality will be for it, Yannick will sigh."],
    ["gwen", "So caps in three weeks. Then what do we need on our side, Piotr?"],
    [
      "piotr",
      "Build forty, five days. Then back in the tank. I won't accept fewer than fourteen days, and I'd like the pressure cycling this time, up and down two bar, because that's what the tide does.",
    ],
    ["marit", "Three weeks, one week, two weeks. That's six. Is there any overlap?"],
    [
      "piotr",
      "Some. The first thirty caps should come after ten days, and I can start a small tank with those. If that one is dry after two weeks then the big one is a confirmation and we don't wait for its end.",
    ],
    ["devika", "With that I'd say five weeks. Five weeks from the date we had, not from today."],
    ["gwen", "So forty-four days from now. Does anyone think five is too optimistic?"],
    [
      "aurelie",
      "I think six. But if you say six to Ploumarec, they hear seven. So I'm happy if we say five here and I carry the risk in my stomach.",
    ],
    [
      "hana",
      "Could we not keep the launch in Japan apart? Their season begins when the water warms, and five weeks is still inside. Six is inside. Eight is not.",
    ],
    [
      "gwen",
      "Good to know where the cliff is. So five weeks, and at three weeks from today we check the small tank, and if anything is wet, we say so that same day.",
    ],
    [
      "marit",
      "And what does it cost us? Caitlín isn't here, so let me be the unpleasant one. Fifty-two units at roughly nine and a half thousand, that's just under half a million moving into the next quarter.",
    ],
    [
      "lukas",
      "Moving, not lost. I think I lose two orders. The Dollmar one has a penalty clause, one percent a week, so five percent on eighteen units.",
    ],
    [
      "marit",
      "That's eight and a half thousand. I can live with eight and a half thousand. I can't live with seven wet buoys a week.",
    ],
    [
      "piotr",
      "May I use the time? The firmware for Heron 2 is a copy of the 4.7 branch. If we have five weeks, I'd like to put 4.7 on the old buoys first, so that we find the stupid bugs there.",
    ],
    ["devika", "How many of the old ones?"],
    [
      "piotr",
      "Four hundred in the first wave. It has the better radio scheduling, and the support people have wanted it for months.",
    ],
    [
      "devika",
      "Agree it with Seun, because his broker will see more messages. But yes, I like it better than launching hardware and firmware on the same day.",
    ],
    [
      "gwen",
      "I'm writing that down as a side quest and not a decision. Anything we should use the weeks for on my side? I can finish the quick-start guide, which at present is a photo of a napkin.",
    ],
    [
      "hana",
      "Please do the Japanese guide at the same time, then I don't translate a napkin. I need the final text three weeks before launch.",
    ],
    ["gwen", "You'll have it. Lukas, who tells the customers, and when?"],
    [
      "lukas",
      "I do, by phone, today and tomorrow. Email after. If they read it before I call I look like a weather report.",
    ],
    [
      "marit",
      "What's the reason we give? I don't want 'supply chain', everyone says supply chain and everyone knows it means nothing.",
    ],
    [
      "lukas",
      "I'd say the truth in one sentence. We found water in some of our test units, we know why, and we won't sell it until it's dry for two weeks.",
    ],
    ["devika", "I like that. It's what I'd want to hear about a thing with a battery in it."],
    ["hana", "I can use it word for word. In Japan I'd add an apology at each end."],
    [
      "gwen",
      "Then let me read the decision. No-go for the date in nine days. New date five weeks later, for all customers, all countries. Sorted caps aren't used in anything we sell.",
    ],
    [
      "gwen",
      "Actions. Aurélie calls Ploumarec today about the insert, the measuring protocol and a hundred and twenty caps in three weeks. Piotr sets up the small tank with pressure cycling. Lukas phones the customers, Hana phones Shiokaze, and I finish both guides.",
    ],
    ["piotr", "And 4.7 on four hundred old buoys, as a side quest."],
    [
      "gwen",
      "And the side quest. Aurélie, do you want company on the call with Ploumarec? My French is three weeks old but very motivated.",
    ],
    ["aurelie", "Come. Say bonjour and look disappointed, you will be a great help."],
    [
      "marit",
      "One more thing. Piotr, thank you for opening all forty and not just the five in the plan. That's the difference between a delay and a recall.",
    ],
    ["piotr", "It was a quiet evening. But thank you."],
    ["devika", "And who takes care of Number Eight?"],
    ["hana", "Number Eight stays in the tank. Control group."],
    [
      "marit",
      "It's not even a quarter past. This is the best bad meeting I have had this year. Thanks, all of you.",
    ],
  ]),
};
