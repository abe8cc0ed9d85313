import { PAUSE, timed } from "../timeline.ts";
import type { DemoMeeting } from "../types.ts";

export const meeting: DemoMeeting = {
  title: "Tideline and Heron 2: demo for Shiokaze Keisoku",
  daysAgo: 11,
  startsAt: "07:00",
  meetingType: "Product Demo",
  recorders: ["hana.tsukada@wrackline-japan.example"],
  participants: [
    { key: "hana", name: "Hana Tsukada", email: "hana.tsukada@wrackline-japan.example" },
    { key: "samir", name: "Samir Haddadine", email: "samir.haddadine@wrackline.example" },
    { key: "gwen", name: "Gwen Pritchard-Owusu", email: "gwen.pritchard-owusu@wrackline.example" },
    { key: "kenji", name: "Kenji Moroboshi (諸星 健二)", email: "moroboshi@shiokaze-keisoku.example" },
    { key: "aya", name: "Aya Shirakura (白倉 彩)", email: "shirakura@shiokaze-keisoku.example" },
    { key: "piotr", name: "Piotr Wilkosz", email: "piotr.wilkosz@wrackline.example" },
  ],
  team: "Customers",
  sharedWithTeams: ["Devices"],
  shareState: "workspace",
  tags: ["日本-launch", "heron-2", "tideline", "demo"],
  language: "en",
  media: "video",
  slides: [
    {
      from: "I'm back. The computer's fresh",
      until: "Now the alarm. I've set a limit",
      by: "samir",
      title: "Heron 31: chlorophyll, last seven days",
      chart: {
        kind: "line",
        unit: "",
        max: 8,
        labels: ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"],
        values: [2.1, 2.4, 2.2, 2.6, 3.1, 2.9, 3.3, 3.0, 3.6, 4.2, 4.8, 4.5, 5.2, 5.0],
        mark: { at: 9, text: "every 2 minutes" },
      },
    },
    {
      from: "Here it is. The bay has two mouths",
      until: "And there's the alarm.",
      by: "aya",
      title: "Warning before the red tide, hours",
      chart: {
        kind: "bars",
        unit: " h",
        bars: [
          { label: "no buoys", value: 0 },
          { label: "4 buoys", value: 2 },
          { label: "12 buoys", value: 5, highlighted: true },
          { label: "30 buoys", value: 6 },
        ],
      },
    },
  ],
  highlights: [
    {
      from: "May I say one thing? Today many things",
      lines: 2,
      text: "I trust it more",
      tags: ["customer-voice", "日本-launch"],
      by: "gwen.pritchard-owusu@wrackline.example",
    },
  ],
  segments: timed({ minutes: 10.2 }, [
    [
      "hana",
      "Good afternoon, Moroboshi-san, Shirakura-san. Thank you for your time, and for agreeing to do it in English, so that my colleagues can answer for themselves. Samir makes the dashboard, Gwen is responsible for the product.",
    ],
    [
      "kenji",
      "Good afternoon. Our English is for measuring instruments only. For jokes, please speak slowly.",
    ],
    ["samir", "I'll mark the jokes with a raised hand."],
    [
      "kenji",
      "First I must ask. The seal. In the last call you said, the small tank will be opened this week.",
    ],
    [
      "gwen",
      "It was opened this morning, at six. Fifteen units, thirty end caps, fourteen days under changing pressure. All of them are dry. Piotr is listening in, without a microphone, because he's been up since five and he doesn't trust himself to speak.",
    ],
    ["kenji", "Congratulations to Mister Piotr. So the date is the same?"],
    [
      "gwen",
      "The date's the same. Two weeks from today the first pallets leave, and the first air freight to you goes on the following day.",
    ],
    ["aya", "Fifteen is a small number. May I have the measurement of the end caps also? Not only 'dry'."],
    [
      "hana",
      "Yes. Each cap has an engraved number and a line in a protocol, with the depth before and after anodising. I'll send you the file for those thirty today, and for yours with the shipment.",
    ],
    ["aya", "Thank you. Then I'm quiet about the seal."],
    [
      "hana",
      "Our plan for today: Samir shows the dashboard with live data from our harbour, then the alarm, then the text from the buoy. At the end there's time for the price and the schedule. Please interrupt at any time.",
    ],
    ["samir", "I'll share my screen. Can you see a map with one blue dot and a small crane?"],
    ["kenji", "We see a message. It says, your computer will restart in four minutes."],
    ["samir", "Oh no. Not now. I clicked 'later' on this yesterday, three times."],
    ["aya", "This is a joke without a hand?"],
    [
      "samir",
      "I wish it was. I can't stop it any more, it's counting. I'm very sorry. It takes about five minutes, I'll be back on the same link.",
    ],
    [
      "gwen",
      "While Samir's computer thinks about its life, could I show you the quick-start guide? Hana has put the Japanese version on the shared page. It used to be a napkin. Please take a few minutes to look through, we'd love your red pen.",
    ],
    [PAUSE, "6 min: the computer restarts; everyone reads the quick-start guide"],
    [
      "aya",
      "I've read it. On page three, the word for 'mooring' is the one for ships. For a raft of oysters, people say a different one. I'll send you a list, it's six words.",
    ],
    [
      "hana",
      "Thank you very much, that's just what I was hoping for. I grew up in Nagano, there's no sea there at all.",
    ],
    [
      "kenji",
      "And on page five. The drawing shows two persons who lift the buoy. One has no gloves. In Japan, the safety officer will return this page.",
    ],
    ["gwen", "We'll give him gloves. Poor man, he's been without for a year."],
    [
      "samir",
      "I'm back. The computer's fresh and so am I. Here's the map. The blue dot is a Heron 2 in our harbour, pre-series, number thirty-one. I click on it, and on the right you have oxygen, temperature, salinity, turbidity, and chlorophyll.",
    ],
    ["aya", "Chlorophyll is the one for us. For red tide. How often is it measured?"],
    [
      "samir",
      "Every ten minutes, normally. When it climbs faster than a limit that you set, it goes to every two minutes by itself, for six hours. That's new in Heron 2.",
    ],
    [
      "aya",
      "The unit is micrograms per litre? Our fishermen use cells per millilitre, from the prefecture's report. They don't think in chlorophyll.",
    ],
    ["samir", "At the moment it's micrograms only. Could you convert one to the other?"],
    [
      "aya",
      "No. It depends on the species. But I can give a table for the three species that matter, with a factor for each, and the user chooses: 'this week it's Karenia'.",
    ],
    [
      "gwen",
      "So the user would choose a species, and we'd show an estimate beside it, clearly marked as an estimate. Samir, how much work is it?",
    ],
    [
      "samir",
      "If it's a table with factors, three days. It must look different from a measured number. Grey and with a little wave in front, perhaps.",
    ],
    ["kenji", "This'd be very strong for sales. The competitor shows volts."],
    ["samir", "Volts?"],
    [
      "kenji",
      "Volts of the sensor. The fishermen write the volts on the wall with chalk. They're used to it, but nobody likes it.",
    ],
    [
      "samir",
      "Okay, noted. Now there's something I'm proud of. Look at this chart, six days ago in the evening. There's a hole in the line, and it says 'no data for forty minutes'. That's when Piotr swapped the battery.",
    ],
    ["kenji", "You're proud of a hole."],
    [
      "samir",
      "Hand is up, but I mean it. Until a month ago, we'd have drawn a straight line there, and you'd have thought that the water's calm. Now if we don't know, we say it.",
    ],
    ["aya", "I like this hole."],
    [
      "samir",
      "Now the alarm. I've set a limit on the buoy in the harbour, so that it must ring if the temperature's over some value. In a minute, my colleague on the quay will put the sensor in a bucket of warm water. It takes eight or nine minutes until it's certain, because it wants several readings in a row.",
    ],
    [
      "hana",
      "While the bucket is doing its work, Shirakura-san, would you show us the bay on your map? I'd like Gwen to see where the thirty would be.",
    ],
    ["aya", "Yes, I'll draw it on the shared map. It takes some minutes, please talk among yourselves."],
    [PAUSE, "8 min: the sensor warms up in the bucket; Aya draws the bay on the map"],
    [
      "aya",
      "Here it is. The bay has two mouths, and the tide turns around the island like this. There are one hundred and forty rafts. The red tide comes from the south mouth, nearly every time. So twelve buoys in a line at the south, and the others are among the rafts.",
    ],
    ["gwen", "How much warning would the line give?"],
    [
      "aya",
      "With the current of the spring tide, about five hours. In five hours, they can lower the oysters to eight metres. The algae are on top, so it's enough. Without warning they lose maybe a third.",
    ],
    ["kenji", "Six years ago they lost two thirds. It's why the cooperative is willing to pay."],
    [
      "samir",
      "And there's the alarm. Did your phones ring? I put in both your numbers this morning, with permission.",
    ],
    ["kenji", "Yes, mine is ringing. It's a voice, in English. It says 'temperature at harbour test buoy'."],
    ["aya", "Mine too. The fishermen will hang up. They think that English calls are fraud."],
    [
      "hana",
      "That has to be in Japanese, and I'd say not a machine voice. In the office, Nomvula recorded the English one herself, in a stairwell, and everybody likes it. I could do the Japanese one.",
    ],
    [
      "kenji",
      "Please, a voice of an older man. A fisherman doesn't get up for a young woman at three. I apologise, but it's so. My father was a harbour master, I can ask him.",
    ],
    ["hana", "If your father would do it, I'd carry the microphone to him myself."],
    ["kenji", "He'll say no, then he'll practise for two days, then he'll say yes."],
    ["gwen", "That might be the best launch plan we've got. Samir, the last part, the text from the buoy?"],
    [
      "samir",
      "Right. Here I'll do something brutal. I switch our platform off for this one buoy. It thinks the whole world's gone. And in the bucket, we now take out the oxygen, there's a little bottle of nitrogen on the quay. It'll take about ten minutes. You'll get a text message, straight from the buoy, no server of ours in between.",
    ],
    ["aya", "Nitrogen in a bucket. You've made it nice for us."],
    [
      "hana",
      "Shall we use the ten minutes for a tea? In my place it's four in the afternoon, it's the right time. Back at half past.",
    ],
    [PAUSE, "9 min: tea break while the oxygen in the bucket falls"],
    ["hana", "Welcome back. Has anyone got a message?"],
    [
      "kenji",
      "I have one. It came two minutes ago. 'Heron 31. Oxygen 3.9. Limit 5.0. Server not reached. Check by hand.' It's very short, I like it. This one can stay in English, for all I care. Numbers are numbers.",
    ],
    ["aya", "I didn't get one."],
    [
      "samir",
      "Let me look. I can't, I've switched it off. One moment. Okay. The buoy reports: two numbers stored, one sent, one refused. Yours has been refused by the network. I think it's the international format, there's a zero too many after the eighty-one.",
    ],
    ["aya", "Ah, yes. In Japan we write the zero. Everybody will do this wrong."],
    [
      "samir",
      "Then the page must take it out by itself. That's an hour of work. Thank you for having the wrong number.",
    ],
    [
      "kenji",
      "You're welcome. Now the business, please. For the thirty, your paper says one million four hundred and eighty thousand yen each. The cooperative has a subsidy, half of it, but only when the order is placed within twenty days.",
    ],
    [
      "gwen",
      "We can hold that price for thirty units. What I can't do is to deliver all thirty in the first shipment. Twelve in the first, for the south line. The eighteen others five weeks later.",
    ],
    ["kenji", "The twelve are the important ones. Is it written down, twelve on the first aeroplane?"],
    [
      "gwen",
      "It'll be in the offer. Aurélie, who runs manufacturing, has put the twelve aside, with numbers.",
    ],
    [
      "kenji",
      "Then I'll go to the cooperative next week. Please send: the offer with twelve and eighteen, the file of the end caps, and the corrected guide. With gloves.",
    ],
    [
      "hana",
      "And from us: the table of species as an estimate in the chart, a Japanese voice, and phone numbers which are forgiving. From Shirakura-san: the six words and the factors. From you: your father.",
    ],
    [
      "aya",
      "May I say one thing? Today many things went wrong. The computer, the voice, my number. I trust it more than the demo of the competitor. There, nothing went wrong, and it was a video.",
    ],
    ["samir", "I'll frame that sentence. Thank you. Both of you."],
    ["kenji", "Mister Samir, please press 'later' never again. My hand is up."],
    ["samir", "Understood. Restarting now, voluntarily."],
    ["hana", "Thank you very much, and until next week. We'll speak before you see the cooperative."],
  ]),
};
