"""English: kitchen, flat, books, a language class."""

from backscroll.demo.topics.topic import ENGLISH_NAMES, Topic

KITCHEN = Topic(
    "en",
    (
        "I made {dish} for {who} yesterday and the {part} came out {how}.",
        "Do I need {thing} for {dish}, or will {other} do?",
        "The {part} of my {dish} took {n} minutes longer than the book says.",
        "{who} does not eat {thing}, so I am looking for another way to do {dish}.",
        "There is half a jar of {thing} left from {day}; what would you do with it?",
        "I tasted {dish} at {time} and it needed something sour.",
        "We have {n} people on {day}, and {who} suggested {dish}.",
        "The market had {other} at a silly price, so now I own {n} portions of it.",
    ),
    (
        "With {thing} in the pan first, {dish} gets a rounder taste, and the {part} stays {how}.",
        "{other} works instead of {thing} if you add it in the last {n} minutes.",
        "For {n} people I would make {dish} the day before and warm it slowly.",
        "When the {part} is {how}, a spoon of vinegar usually wakes it up again.",
        "Salt {dish} twice, at the start and {n} seconds before the end, and the {part} keeps up.",
        "If {who} avoids {thing}, roast some {other} and build {dish} around that.",
        "Let it rest for {n} minutes; the {part} settles, and cutting it becomes easier.",
        "Leftover {thing} keeps for about a week under oil, and it is good on toast with {other}.",
        "Most recipes for {dish} are generous with {thing}; two thirds of it is plenty.",
        "A heavier pot would help, because the {part} was probably {how} from uneven heat.",
    ),
    {
        "dish": "mushroom risotto|lentil soup|lamb stew|shakshuka|onion tart|"
        "miso aubergine|chickpea curry|fish pie|leek gratin|bean chili",
        "thing": "miso paste|tahini|capers|smoked paprika|anchovies|preserved lemon|harissa",
        "other": "sun-dried tomatoes|walnuts|dill|fennel|chard|radishes|white beans|sorrel",
        "part": "crust|sauce|base|filling|topping|broth",
        "how": "too thin|just right|a little dry|oddly sweet|silky|burnt at one corner",
        "who": ENGLISH_NAMES,
    },
    ("who", "dish"),
)

FLAT = Topic(
    "en",
    (
        "The {room} still smells of {material} after {n} days.",
        "{who} measured the {room} and says the {item} is {n} centimetres too wide.",
        "Which colour would you take for the {room}, next to the {item}?",
        "The neighbours are drilling again, always at {time}, always next to our {room}.",
        "I sanded the {item} on {day} and ran out of {material}.",
        "Is it worth repairing the {item}, or should {who} take it to the dump?",
        "We got a quote for the {room}: {n} hours of work and more {material} than I expected.",
    ),
    (
        "Air the {room} twice a day, and the {material} should be gone after {n} days.",
        "Turn the {item} by a quarter, and the missing {n} centimetres may not matter.",
        "A warm grey goes well with the {item}, and it forgives marks in a {room}.",
        "Buy a little more {material} than you need, because a second batch rarely matches.",
        "Ask for the {n} hours to be split by task; the {room} itself is seldom the expensive part.",
        "The old {item} is worth a try: glue, clamps, and a {day} of patience.",
        "If {who} helps, do the ceiling of the {room} first and the floor last.",
        "Drilling before {time} is against the rules in most houses; a friendly note works wonders.",
        "Put felt under the {item} before moving it back into the {room}.",
    ),
    {
        "room": "bathroom|box room|kitchen corner|balcony|study|guest room|stairwell",
        "item": "bookcase|wardrobe|folding table|sideboard|coat rack|desk|sofa bed",
        "material": "varnish|plaster|linseed oil|tile adhesive|primer|floor wax",
        "who": ENGLISH_NAMES,
    },
    ("room", "who"),
)

BOOKS = Topic(
    "en",
    (
        "I am {n} pages into the {kind} that {who} lent me, and the {aspect} is {verdict}.",
        "Our reading circle meets on {day} at {time}, and nobody has finished the {kind}.",
        "Is it normal to skip the {aspect} in a {kind} like this?",
        "{who} says the {aspect} gets better after page {n}.",
        "Listened to the {kind} on the train; the narrator makes the {aspect} {verdict}.",
        "I keep mixing up the {people} in the second half of the {kind}.",
        "What should I read after a {kind} whose {aspect} was {verdict}?",
    ),
    (
        "In a {kind}, the {aspect} often feels {verdict} until the {people} have been introduced.",
        "Give it {n} more pages, and if the {aspect} still bothers you, put it aside without guilt.",
        "A list of the {people} on a bookmark helps after page {n}, more than any summary of the {kind}.",
        "For {day} you could bring one passage about the {people} and ask what the others heard in it.",
        "{who} has a point: the {aspect} of that {kind} rewards patience.",
        "Narrators who rush the {aspect} make it {verdict}; a slower speed setting sometimes rescues it.",
        "After a {kind} I would take something short, perhaps {n} pages of essays, to clear the palate.",
        "The {people} are easier to follow if you notice who is never described from the inside.",
        "Skipping the {aspect} is fine in a first reading, since a good {kind} repeats what matters.",
    ),
    {
        "kind": "family saga|sea novel|detective story|travel memoir|"
        "history of salt|collection of letters|ghost story|biography of a botanist|campus novel",
        "aspect": "opening|middle part|dialogue|pacing|"
        "ending|description of weather|chapter order|translation",
        "verdict": "wonderful|rather flat|hard to follow|funnier than I thought|overlong|moving",
        "people": "three brothers|aunts and cousins|sailors|neighbours|two narrators|witnesses",
        "who": ENGLISH_NAMES,
    },
    ("kind", "who"),
)

LANGUAGE = Topic(
    "en",
    (
        "My {language} class on {day} did {n} new words about {subject}.",
        "{who} corrected my {mistake} again, this time in the middle of an order for {subject}.",
        "How long does it take until the {mistake} stops being a problem in {language}?",
        "I listened to {n} minutes of {language} radio and understood the part about {subject}.",
        "The teacher moved the {language} class to {time} because of {who}.",
        "I keep forgetting the words for {subject}, all {n} of them.",
    ),
    (
        "For {subject}, {n} words are plenty as long as you use them in whole sentences.",
        "The {mistake} tends to fade once you read {language} aloud for {n} minutes a day.",
        "Ask {who} to correct the {mistake} only at the end of a conversation, not in the middle.",
        "Radio at {time} is usually slower in {language}, even when it is about {subject}.",
        "Write three lines about {subject} every {day}, and read last week's lines first.",
        "In {language}, people forgive the {mistake} sooner than a missing greeting, in my experience.",
        "A partner like {who} is worth more than {n} pages of exercises on the {mistake}.",
        "Put the words for {subject} on paper cards, {n} at most, and throw away the ones that stick.",
    ),
    {
        "language": "Portuguese|Turkish|Greek|Finnish|Korean|Catalan|Swahili",
        "subject": "train travel|vegetables|the weather|furniture|pets|birthdays|hobbies|clothes",
        "mistake": "word order|pronunciation of vowels|use of the past tense|mix-up of articles|polite form",
        "who": ENGLISH_NAMES,
    },
    ("language", "who"),
)

HOME = (KITCHEN, FLAT, BOOKS, LANGUAGE)
