import { timed } from "../timeline.ts";
import type { DemoMeeting } from "../types.ts";

export const meeting: DemoMeeting = {
  title: "Stennavoe follow-up: what has changed since the outage",
  daysAgo: 14,
  startsAt: "11:47",
  meetingType: "Customer Meeting",
  recorders: ["nomvula.khoza@wrackline.example", "marit.aalvik@wrackline.example"],
  participants: [
    { key: "nomvula", name: "Nomvula Khoza", email: "nomvula.khoza@wrackline.example" },
    { key: "marit", name: "Marit Aalvik", email: "marit.aalvik@wrackline.example" },
    { key: "seun", name: "Seun Oyelaran", email: "seun.oyelaran@wrackline.example" },
    { key: "inga", name: "Inga Tait-Rendall", email: "inga@stennavoe.example" },
    { key: "erik", name: "Erik Halcrow", phone: "+447700900142" },
    { key: "dougal", name: "Dougal Inkster", email: "accounts@stennavoe.example" },
  ],
  team: "Customers",
  sharedWithTeams: ["Platform", "Operations"],
  sharedWithUsers: ["devika.raghunathan@wrackline.example", "gwen.pritchard-owusu@wrackline.example"],
  shareState: "restricted",
  tags: ["stennavoe", "follow-up", "outage", "heron-2", "credit"],
  language: "en",
  media: "video",
  slides: [
    {
      from: "There are three parts, and I'll say",
      until: "All right. Third was the button.",
      by: "seun",
      title: "The second road",
      chart: {
        kind: "list",
        items: [
          { text: "A watchman outside, rings every day at noon", isDone: true },
          { text: "A call when we are blind: in eleven days" },
          { text: "A text from the buoy itself: with Heron 2" },
        ],
      },
    },
    {
      from: "That's a fair number, and I don't doubt it.",
      until: "I see what it is, Marit.",
      by: "nomvula",
      title: "What it is worth, in euros",
      chart: {
        kind: "bars",
        unit: "",
        bars: [
          { label: "6 months credit", value: 3200 },
          { label: "2 months credit", value: 1070 },
          { label: "2 buoys, a year", value: 7440, highlighted: true },
        ],
      },
    },
  ],
  highlights: [
    {
      from: "Because every day, three minutes before noon",
      lines: 4,
      text: "Ringing every day at noon, on purpose",
      tags: ["alerts", "stennavoe"],
      by: "seun.oyelaran@wrackline.example",
    },
    {
      from: "It's noon. That's the watchman.",
      lines: 2,
      text: "The first time I've been pleased to hear an alarm",
      tags: ["customer-voice"],
      by: "nomvula.khoza@wrackline.example",
    },
  ],
  segments: timed({ minutes: 9.9 }, [
    [
      "nomvula",
      "Hello, Inga, hello, Erik. As promised, Marit is here in person. And Seun, whom you know. We're recording again, and I'll send you the transcript afterwards, as you asked.",
    ],
    [
      "inga",
      "Good. I've Dougal with me, he does our accounts. He's here because of the one point, and he's given up his lunch for it.",
    ],
    ["dougal", "Half of it. Hello, all."],
    [
      "marit",
      "Hello, Inga. I was told that I'm to come and say no to you in person. I'd like to keep that for the end and first hear how pen six is.",
    ],
    [
      "inga",
      "Six is fine. We lost three hundred and forty in all, in the end. The gill damage was less than I'd feared. The vet was out twice, that's another nine hundred pounds.",
    ],
    [
      "marit",
      "I'm sorry. I've been on your barge, seven years ago, when you had our very first ones. I remember that you'd painted numbers on them because you didn't trust our stickers.",
    ],
    ["inga", "And look how that turned out. It's the sticker that worked."],
    ["erik", "The fifty came, by the way. They're on everything. There's one on the kettle."],
    ["seun", "I've been told that the kettle hasn't reported anything so far."],
    [
      "nomvula",
      "Shall we go through the list from the last call? There were four points. First the written report. You've had it since eleven days ago, and the insurer as well.",
    ],
    [
      "inga",
      "The insurer was very taken with it. He said he's never had one with the names of the people's own mistakes in it. He asked whether you're all right.",
    ],
    ["marit", "Did it do what you need? For the claim, I mean."],
    [
      "inga",
      "It did. They paid for the fish less the excess. And the retailer wanted one page, so I sent them the first page, which is the good one.",
    ],
    ["nomvula", "Then the report is done. Second was the second road, the stupid one. Seun."],
    [
      "seun",
      "There are three parts, and I'll say for each whether it exists or whether it's a promise. The first exists. There's a watchman outside now, at another provider, and when it hears nothing from us for three minutes it phones our engineer. If he doesn't answer, it goes on to the next, and then to our head of engineering.",
    ],
    ["inga", "And how do I know that it's not another mirror?"],
    [
      "seun",
      "Because every day, three minutes before noon, we stop feeding it on purpose, and at noon it has to ring. By UTC it's ten to twelve. If you like, I'll leave my phone on the table and we wait.",
    ],
    ["erik", "I like this man."],
    [
      "seun",
      "I should say it has failed once. On the fourth day it didn't ring, because the phone was set to silent at the dentist's. Since then the number goes through even when it's silent. We'd rather find such a thing at noon.",
    ],
    ["inga", "At noon and at the dentist. Fair enough. The second part?"],
    [
      "seun",
      "The second is nearly there. When the whole platform is blind for more than five minutes, you get a call, a recorded voice, that says: we can't see your pens, please check them by hand. It's been tried on our own numbers. For customers, it'll go live in about eleven days.",
    ],
    ["nomvula", "It's my voice. I recorded it in a stairwell. If you hear an echo, that's why."],
    [
      "inga",
      "So if it had been there, then at quarter past two Erik's phone would've rung, and he'd have gone out with the handheld.",
    ],
    [
      "seun",
      "Yes. At a quarter past two, fifty minutes before pen six went under. It wouldn't have needed anything else.",
    ],
    ["erik", "I'd have been grumpy. But I'd have been there."],
    [
      "seun",
      "The third is a promise, and it hangs on the new buoy. Heron 2 can send you a text itself, with its own modem, if it can't reach us. It's working on the bench. The first one did it eight days ago, it sent Piotr a message at dinner.",
    ],
    ["inga", "And what about the water in them?"],
    [
      "marit",
      "That one I'll take. We have thirty new end caps in a small tank, under changing pressure, since eleven days. All dry. At fourteen days we open them. The date still stands, the shipments begin in seventeen days.",
    ],
    ["inga", "And if one's wet?"],
    [
      "marit",
      "Then I phone you myself, the same day, and the date falls. I've told the whole company that a wet one costs us nothing compared with shipping it.",
    ],
    ["erik", "Is the duck still dry? Somebody at your place told me about a duck."],
    ["nomvula", "That was me, I'm afraid. Number Eight's in excellent condition."],
    ["inga", "All right. Third was the button."],
    [
      "seun",
      "The button's on your page since yesterday. Top right, it says 'Ring the alarm'. It goes the real way from beginning to end, and there's a log of who pressed it and which phones were answered.",
    ],
    ["inga", "I know. I pressed it this morning, at ten past four."],
    ["erik", "She did. I can confirm that it works."],
    ["inga", "It rang Erik, and it rang me, and it didn't ring Magnus, who's on the list as third."],
    [
      "seun",
      "That's important. Let me look, one moment. For Magnus I see 'number not in service'. The number ends in four seven.",
    ],
    ["erik", "That's his old one. He dropped that phone off the barge before the new year."],
    [
      "seun",
      "Then your test has found something real on the first day. We had the same with other sites, about half the lists have an old number in them. I think the page should show it in red, if a number hasn't answered in the last month. I'll ask Samir.",
    ],
    [
      "inga",
      "Do that. And I'll get Magnus's number put right today. It's the kind of thing that nobody thinks of until the night itself.",
    ],
    [
      "nomvula",
      "So the button is done, and the red numbers are a new point. I'm writing that down with Samir's name. Then it's the fourth one, the credit.",
    ],
    [
      "marit",
      "So it's my turn. Inga, you asked for six months. I've thought about it, and I'm going to say why I don't say yes, and you tell me if it's wrong.",
    ],
    ["inga", "Go on."],
    [
      "marit",
      "Six months of service for twelve buoys is about three thousand two hundred euros. It's not the amount. It's that I've ten other sites with the same right, and if I do it for all of them, then I'm paying for it with the second firmware engineer. And she's the one who's to make sure that it doesn't happen again.",
    ],
    [
      "dougal",
      "With respect, that's your budget and not ours. We had the vet twice and four nights of double watch. I make that two thousand one hundred pounds, without the fish.",
    ],
    [
      "marit",
      "That's a fair number, and I don't doubt it. What I can offer is two months to everybody who had an oxygen or a temperature alarm in that window. I've decided that already, it's two sites for oxygen and four for temperature.",
    ],
    ["inga", "Two's not six."],
    [
      "marit",
      "No. So on top of this, for you, because of the real costs that you had: the first two Heron 2 for pens six and seven, from the first pallet, at no charge for the first year. You pay nothing until you've seen through a season of slack tides.",
    ],
    ["dougal", "What would those cost otherwise?"],
    [
      "marit",
      "Nine and a half thousand each to buy, or three hundred and ten a month each on the hire plan. So the year is seven thousand four hundred and forty.",
    ],
    ["dougal", "That's more than the six months, then. By a good bit."],
    ["inga", "Dougal, you're meant to be on my side."],
    ["dougal", "I'm on the side of the arithmetic."],
    ["inga", "I see what it is, Marit. You want your new buoy in my worst pen."],
    [
      "marit",
      "I do want that. If it works in pen six on a slack night, I can show it to anybody. I'm not hiding it. But you can have the cash instead, and then I'd say three months and no more.",
    ],
    ["inga", "And what do I do if they leak?"],
    [
      "marit",
      "You keep the old ones in the water next to them. Both, for the whole year. If the new one's nonsense, you send it back with a rude note.",
    ],
    ["erik", "I'd like that, Inga. Two in the same pen. Then we can see which one's lying."],
    [
      "inga",
      "I want four months for the service, and the two buoys. Two months is what the ones get who lost nothing.",
    ],
    [
      "marit",
      "Four months and the two buoys, and in return I may send Gwen and Piotr to you for two days, when they go in. With cameras.",
    ],
    ["inga", "They sleep in the bothy, and they eat what Erik cooks."],
    ["erik", "It's mostly mince."],
    [
      "marit",
      "Then we have a deal. Nomvula sends it in writing today. I've said no to you for at least four sentences, I hope that counts.",
    ],
    ["seun", "Sorry to interrupt. That's my phone."],
    ["erik", "Is it noon?"],
    [
      "seun",
      "It's noon. That's the watchman. Listen, 'no heartbeat for three minutes, press one to confirm'. I press one, and now it's quiet, and if I hadn't, it'd be ringing in Rafael's kitchen.",
    ],
    ["inga", "Well. That's the first time I've been pleased to hear an alarm."],
    [
      "nomvula",
      "Shall I sum up? The report is done. The watchman is live, you've heard it. The recorded call is in eleven days. The button works, Magnus's number gets fixed by you, the red numbers by Samir. Four months' credit and two Heron 2 from the first pallet, free for a year, with a visit.",
    ],
    [
      "inga",
      "And Seun may stop watching my pens at night. You've done sixteen nights, I saw it in the log. Erik says you talk about seals now.",
    ],
    ["seun", "There was one with a scar, he came every night at two. I'll miss him. Thank you, Inga."],
    ["inga", "Thank you for coming, Marit. Most folk send a letter."],
    ["marit", "Most folk haven't been on the barge. Goodbye, all of you."],
  ]),
};
